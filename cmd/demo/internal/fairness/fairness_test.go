package fairness

import (
	"context"
	"errors"
	"testing"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
)

// Each case yields as many delays as were asked for, none of them negative, and ends
// its CPU-bound threads.
func TestMeasure(t *testing.T) {
	cpu := binding.Allowed()[0]
	for _, c := range []Case{{CPUBound: 0, Slices: true}, {CPUBound: 2, Slices: true}, {CPUBound: 2}, {CPUBound: 2, Peer: true}} {
		wakes, sleeps, err := c.Measure(t.Context(), cpu, 20)
		if err != nil {
			t.Fatal(err)
		}
		for what, delays := range map[string][]float64{"wake": wakes, "sleep": sleeps} {
			r := NewRow(c, what, delays)
			if r.Wakes != 20 || delays[0] < 0 || r.Median > r.P99 || r.P99 > r.Max || r.Max == 0 {
				t.Errorf("%+v: %+v", c, r)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (Case{CPUBound: 1}).Measure(ctx, cpu, 20); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
