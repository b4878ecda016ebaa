package unix

import "github.com/pm2-go/pm2/nmad/driver"

// Name of the driver.
const Name = "unix"

// standardBody is the largest body in bytes: see the driver tcp, of whose choice nothing is different here.
const standardBody = 64 << 10

// Driver is the driver for Unix sockets; the zero value is ready.
type Driver struct {
	body   int // 0: standardBody
	sndbuf int // bytes asked of the kernel for sending; 0: as the kernel sees fit
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

func init() { driver.MustRegister(Driver{}) }
