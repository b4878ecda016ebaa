package unix

import (
	"fmt"
	"os"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

func TestConformance(t *testing.T) { drivertest.Run(t, Driver{}) }

// TestConformanceTiny runs the part within one process over buffers so small that most
// packets leave and arrive in pieces.
func TestConformanceTiny(t *testing.T) {
	drivertest.RunInside(t, Driver{body: 3000, sndbuf: 4 << 10})
}

// BenchmarkLink measures the driver as it is, or with the largest body, in
// bytes, that PM2_UNIX_BODY says.
func BenchmarkLink(b *testing.B) {
	var d Driver
	if text, ok := os.LookupEnv("PM2_UNIX_BODY"); ok {
		if _, err := fmt.Sscan(text, &d.body); err != nil {
			b.Fatalf("PM2_UNIX_BODY=%s: %v", text, err)
		}
	}
	drivertest.Bench(b, d)
}

// BenchmarkCrowd: many dialers, and one beside many strangers.
func BenchmarkCrowd(b *testing.B) { drivertest.BenchCrowd(b, Driver{}) }
