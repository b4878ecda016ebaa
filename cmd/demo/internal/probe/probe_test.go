package probe

import (
	"errors"
	"testing"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
)

func TestMeasure(t *testing.T) {
	a, b, ok := binding.Pair(binding.Allowed())
	if !ok {
		t.Skip("one CPU only: nothing to measure between")
	}
	ns, err := Measure(a, b)
	if errors.Is(err, ErrBusy) {
		t.Skipf("%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// No line crosses between two cores in less than a nanosecond, and a figure
	// beyond a millisecond would be the kernel's, not the cores'.
	if ns < 1 || ns > 1e6 {
		t.Errorf("%.1f ns one way between CPUs %d and %d", ns, a, b)
	}
	t.Logf("CPUs %d and %d: %.1f ns", a, b, ns)
}

// TestGivenUp: when the pinger loses patience, at whatever moment, the ponger ends.
func TestGivenUp(t *testing.T) {
	for range 200 {
		var l line
		done := make(chan struct{})
		go func() { l.pong(); close(done) }()
		_, _ = l.ping(time.Now().Add(-time.Second)) // may or may not get through
		l.over.Store(true)
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("the ponger goes on for ever")
		}
	}
}

func TestSameCPU(t *testing.T) {
	if _, err := Measure(0, 0); err == nil {
		t.Error("a CPU was probed against itself")
	}
}

func TestNoSuchCPU(t *testing.T) {
	if ns, err := Measure(binding.Allowed()[0], 1023); err == nil {
		t.Errorf("CPU 1023 answered in %.1f ns", ns)
	}
}
