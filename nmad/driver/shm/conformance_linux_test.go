package shm

import (
	"fmt"
	"os"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

func TestConformance(t *testing.T) { drivertest.Run(t, Driver{}) }

// TestConformanceTiny runs the suite over rings so small that every message
// meets their ends, and every second one finds them full, with long messages going either
// way in turn.
func TestConformanceTiny(t *testing.T) {
	drivertest.Run(t, Driver{geo: &geometry{cells: 4, maxBody: 200, bodies: 1024, slots: 2, slotSize: 192}, minOffer: 100})
}

// BenchmarkLink measures the standard geometry, or the one in the environment:
// PM2_SHM_GEOMETRY=cells,maxBody,bodies,slots,slotSize, by which it was chosen.
func BenchmarkLink(b *testing.B) {
	var d Driver
	if text, ok := os.LookupEnv("PM2_SHM_GEOMETRY"); ok {
		d.geo = &geometry{}
		if _, err := fmt.Sscanf(text, "%d,%d,%d,%d,%d", &d.geo.cells, &d.geo.maxBody, &d.geo.bodies, &d.geo.slots, &d.geo.slotSize); err != nil {
			b.Fatalf("PM2_SHM_GEOMETRY=%s: %v", text, err)
		}
	}
	drivertest.Bench(b, d)
}

// BenchmarkCrowd: many dialers, and one beside many strangers.
func BenchmarkCrowd(b *testing.B) { drivertest.BenchCrowd(b, Driver{}) }
