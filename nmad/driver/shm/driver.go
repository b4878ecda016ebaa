package shm

import (
	"cmp"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/numa"
)

// Name of the driver.
const Name = "shm"

// Driver is the shared-memory driver; the zero value is ready.
type Driver struct {
	// Copy says how long messages go: "auto", "two" or "single", as PM2_SHM_COPY does (EnvCopy); empty: as that
	// variable says.
	Copy string

	geo      *geometry // nil: standard or crowded
	minOffer int       // bytes of the shortest message that may be offered; 0: standardMinOffer

	home func() driver.Locality // where arriving messages should lie, for the calling thread; nil: numa.Here
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// geometry returns the sizes of a new segment.
func (d Driver) geometry(c driver.Config) geometry {
	switch {
	case d.geo != nil:
		return *d.geo
	case c.HasSharedCPUs():
		return crowded
	}
	return standard
}

// homes returns the function that says where memory for arriving messages should lie.
func (d Driver) homes() func() driver.Locality {
	if d.home != nil {
		return d.home
	}
	return numa.Here
}

// longPaths says how a link may carry long messages.
type longPaths struct {
	policy       copyPolicy
	minOffer     int  // bytes of the shortest message that may be offered
	receiverOnly bool // a receiver fetches an offer without the sender's help
}

// longPaths returns how the links of d may carry long messages; environment is the value of EnvCopy.
func (d Driver) longPaths(environment string) (w longPaths, err error) {
	w.minOffer = cmp.Or(d.minOffer, standardMinOffer)
	w.policy, err = parsePolicy(cmp.Or(d.Copy, environment))
	return w, err
}

func init() { driver.MustRegister(Driver{}) }
