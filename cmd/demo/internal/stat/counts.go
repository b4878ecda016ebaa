package stat

import "slices"

// fine is below what values have a count of their own: with 4 bytes each, a third of a first-level cache,
// of which the common values touch some lines.
const fine = 4096

// Counts keeps samples of a short interval as how often each value came. A list of them grows by a line of the cache
// for every eight, and the thread that takes the samples waits for these lines: what is measured next would pay for it.
// The few samples that are too large for a count are kept one by one. Not safe for concurrent use.
type Counts struct {
	of    [fine]uint32
	above []int64
}

// NewCounts expects some n samples.
func NewCounts(n int) *Counts { return &Counts{above: make([]int64, 0, n/16)} }

// Add takes a sample; below zero counts as zero.
func (c *Counts) Add(v int64) {
	if v < fine {
		c.of[max(v, 0)]++
		return
	}
	c.above = append(c.above, v)
}

// AppendTo appends all samples to values, the smallest first, each multiplied by unit.
func (c *Counts) AppendTo(values []float64, unit float64) []float64 {
	for v, n := range c.of {
		for range n {
			values = append(values, float64(v)*unit)
		}
	}
	for _, v := range slices.Sorted(slices.Values(c.above)) {
		values = append(values, float64(v)*unit)
	}
	return values
}
