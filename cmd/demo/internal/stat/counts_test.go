package stat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c, want := NewCounts(16), []float64{-1}
	for range 10000 {
		v := random.Int64N(1 << random.Int64N(16)) // on both sides of fine
		c.Add(v)
		want = append(want, float64(v)*0.5)
	}
	c.Add(-3)
	want = append(want, 0)
	slices.Sort(want)
	if got := c.AppendTo([]float64{-1}, 0.5); !slices.Equal(got, want) {
		t.Errorf("%d values from %v to %v, want %d from %v to %v", len(got), got[0], got[len(got)-1], len(want), want[0], want[len(want)-1])
	}
}
