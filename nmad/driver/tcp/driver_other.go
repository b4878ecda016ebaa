//go:build !linux

package tcp

import (
	"fmt"
	"runtime"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Open implements driver.Driver. The data path is made of Linux's epoll and
// non-blocking calls: elsewhere it fails with driver.ErrUnsupported.
func (Driver) Open(driver.Config) (driver.Endpoint, error) {
	return nil, fmt.Errorf("tcp: %w (%s): it needs Linux", driver.ErrUnsupported, runtime.GOOS)
}
