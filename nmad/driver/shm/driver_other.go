//go:build !linux

package shm

import "github.com/pm2-go/pm2/nmad/driver"

// Open implements driver.Driver. Sealed segments, eventfds and epoll are
// Linux's: elsewhere it fails with driver.ErrUnsupported.
func (Driver) Open(driver.Config) (driver.Endpoint, error) {
	return nil, driver.OnlyLinux(Name)
}
