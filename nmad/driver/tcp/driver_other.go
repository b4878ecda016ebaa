//go:build !linux

package tcp

import "github.com/pm2-go/pm2/nmad/driver"

// Open implements driver.Driver. The data path is made of Linux's epoll and
// non-blocking calls: elsewhere it fails with driver.ErrUnsupported.
func (Driver) Open(driver.Config) (driver.Endpoint, error) {
	return nil, driver.OnlyLinux(Name)
}
