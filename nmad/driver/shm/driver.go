package shm

import (
	"errors"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Name of the driver.
const Name = "shm"

// Driver is the shared-memory driver; the zero value is ready.
type Driver struct {
	geo *geometry // nil: standard
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

func (d Driver) geometry() geometry {
	if d.geo != nil {
		return *d.geo
	}
	return standard
}

func init() {
	if err := driver.Register(Driver{}); err != nil {
		panic(err) // two packages of one name in one program: seen by whoever builds it
	}
}

// isProtocol tells the peer's mistakes from those of our own caller.
func isProtocol(err error) bool { return errors.Is(err, driver.ErrProtocol) }
