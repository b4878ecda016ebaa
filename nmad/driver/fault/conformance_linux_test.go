package fault

import (
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/driver/tcp"
	"github.com/pm2-go/pm2/nmad/driver/unix"
)

// rough is all that a link may do without breaking its promises.
var rough = Plan{
	Seed: 1, Refuse: 0.1, Short: 0.3,
	Delay: Chance{0.0005, 50 * time.Microsecond}, Stall: Chance{0.0005, 50 * time.Microsecond},
}

// TestConformance: a link with such faults is a link, over every network.
func TestConformance(t *testing.T) {
	networks := []driver.Driver{shm.Driver{}, tcp.Driver{}, unix.Driver{}}
	if testing.Short() {
		networks = networks[:2] // the links of unix are those of tcp
	}
	for _, inner := range networks {
		t.Run(inner.Name(), func(t *testing.T) { drivertest.RunInside(t, Driver{Inner: inner, Plan: rough}) })
	}
}

// TestEndpoints: opening, linking and refusing are those of the inner driver.
func TestEndpoints(t *testing.T) {
	drivertest.RunEndpoints(t, Driver{Inner: unix.Driver{}, Plan: rough})
}
