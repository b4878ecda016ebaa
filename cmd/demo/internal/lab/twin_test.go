package lab

import (
	"errors"
	"testing"
)

// TestTwin: two variants share a measurement, whichever comes first; one alone has its own each time.
func TestTwin(t *testing.T) {
	n, failure := 0.0, error(nil)
	first, second := twin(func() (a, b []float64, err error) {
		n++
		return []float64{n}, []float64{-n}, failure
	})
	for i, x := range []struct {
		ask  func() ([]float64, error)
		want float64
	}{{first, 1}, {second, -1}, {second, -2}, {first, 2}, {first, 3}, {first, 4}, {second, -4}} {
		if samples, err := x.ask(); err != nil || len(samples) != 1 || samples[0] != x.want {
			t.Errorf("question %d: %v, %v; want %g", i, samples, err, x.want)
		}
	}
	failure = errors.New("broken")
	if _, err := first(); !errors.Is(err, failure) {
		t.Error(err)
	}
}
