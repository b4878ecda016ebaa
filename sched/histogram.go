package sched

import (
	"fmt"
	"strings"
	"time"
)

// Histogram counts durations by powers of two: element i those from 2^(i-1) up to, but not including, 2^i ns; the last
// one also what is longer (from 2 minutes on).
type Histogram [38]uint64

// Count returns the number of durations.
func (hist *Histogram) Count() (n uint64) {
	for _, x := range hist {
		n += x
	}
	return n
}

// Quantile returns an upper bound, a power of two, of the shortest q of the durations (0 < q <= 1); 0 if there are
// none.
func (hist *Histogram) Quantile(q float64) time.Duration {
	n := hist.Count()
	if n == 0 {
		return 0
	}
	rest := q * float64(n)
	for i, x := range hist {
		if rest -= float64(x); rest <= 0 && x > 0 {
			return 1 << i
		}
	}
	return 1 << (len(hist) - 1)
}

// String lists what is not empty: "<128ns 17, <256ns 3".
func (hist *Histogram) String() string {
	var parts []string
	for i, x := range hist {
		if x != 0 {
			parts = append(parts, fmt.Sprintf("<%v %d", time.Duration(1)<<i, x))
		}
	}
	return strings.Join(parts, ", ")
}
