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
	// Copy says how long messages go: "auto", "two" or "single", as PM2_SHM_COPY does (EnvCopy); empty: as that variable says.
	Copy string

	geo   *geometry // nil: standard, or crowded
	least int       // bytes of the shortest message that may be offered; 0: leastOffer

	home func() driver.Place // where what arrives should lie, of the calling thread; nil: numa.Here
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

func (d Driver) geometry(c driver.Config) geometry {
	switch {
	case d.geo != nil:
		return *d.geo
	case c.HasSharedCPUs():
		return crowded
	}
	return standard
}

func (d Driver) homes() func() driver.Place {
	if d.home != nil {
		return d.home
	}
	return numa.Here
}

// longWays is how links may carry long messages.
type longWays struct {
	policy copyPolicy
	least  int
	alone  bool // a receiver fetches an offer without the sender's help
}

// ways is how the links of d may, in that environment.
func (d Driver) ways(environment string) (w longWays, err error) {
	w.least = d.least
	w.policy, err = parsePolicy(cmp.Or(d.Copy, environment))
	if w.least == 0 {
		w.least = leastOffer
	}
	return w, err
}

func init() { driver.MustRegister(Driver{}) }
