package tcp

import "github.com/pm2-go/pm2/nmad/driver"

// Name of the driver.
const Name = "tcp"

// standardBody is the largest body in bytes: up to here a message goes through one write and one read, with one more
// copy through the buffers of the link at either end. Measured one way over loopback (BenchmarkLink, best of batches):
// 32 KiB 5.6 us against 5.3 us on the large track, 128 KiB 15.7 us against 14.0 us; as the large track needs an
// agreement first, a round trip of 7 us, the small one is the faster way still at 128 KiB, and what bounds it is the
// memory of each link.
const standardBody = 64 << 10

// Driver is the TCP driver; the zero value is ready.
type Driver struct {
	body   int // 0: standardBody
	sndbuf int // bytes asked of the kernel for sending; 0: as the kernel sees fit
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

func init() { driver.MustRegister(Driver{}) }
