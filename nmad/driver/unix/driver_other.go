//go:build !linux

package unix

import (
	"fmt"
	"runtime"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Open implements driver.Driver. Abstract names, epoll and the credentials of a peer
// are Linux's: elsewhere it fails with driver.ErrUnsupported.
func (Driver) Open(driver.Config) (driver.Endpoint, error) {
	return nil, fmt.Errorf("unix: %w (%s): it needs Linux", driver.ErrUnsupported, runtime.GOOS)
}
