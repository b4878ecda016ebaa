//go:build !linux

package unix

import "github.com/pm2-go/pm2/nmad/driver"

// Open implements driver.Driver. Abstract names, epoll and the credentials of a peer
// are Linux's: elsewhere it fails with driver.ErrUnsupported.
func (Driver) Open(driver.Config) (driver.Endpoint, error) {
	return nil, driver.OnlyLinux(Name)
}
