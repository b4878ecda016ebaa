package crossover

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/strategy"
)

// Limit returns the size, in bytes, up to which messages go eagerly over the first rail, and the rail that sets this
// limit. limits has for each rail the measured size up to which an eager message is not slower than a rendezvous whose
// bytes come over this rail alone; 0 if it was not measured. The rails over which the strategy sends a message depend
// on its size: with a second rail that is about as fast as the first one, or faster, a rendezvous pays off earlier. So
// the limit is the largest one of limits that no rail contradicts which would carry a part of a message of that size.
// It is 0 if no rail was measured.
func Limit(s strategy.Strategy, costs []strategy.Cost, limits []int) (limit, rail int) {
	least := 0 // the rail with the smallest measured limit
	for i, n := range limits {
		if n == 0 {
			continue
		}
		if limits[least] == 0 || n < limits[least] {
			least = i
		}
		if n > limit && holds(s, costs, limits, n) {
			limit, rail = n, i
		}
	}
	if limit == 0 {
		return limits[least], least
	}
	return limit, rail
}

// holds reports whether no rail that would carry a part of a message of n bytes has a limit below n.
func holds(s strategy.Strategy, costs []strategy.Cost, limits []int, n int) bool {
	for i, carries := range carriers(s, costs, n) {
		if carries && limits[i] != 0 && limits[i] < n {
			return false
		}
	}
	return true
}

// carriers returns, by rail, whether the rail carries a part of a message of n bytes when nothing else is under way.
func carriers(s strategy.Strategy, costs []strategy.Cost, n int) []bool {
	loads, shares := make([]strategy.Load, len(costs)), make([]int, len(costs))
	for i, c := range costs {
		loads[i].Cost = c
	}
	strategy.Estimate(s, n, loads, shares)
	carry := make([]bool, len(costs))
	for i, share := range shares {
		carry[i] = share > 0
	}
	return carry
}

// Range is a range of sizes whose messages come over the same rails. It ends where the next Range begins.
type Range struct {
	From  uint64 // smallest size, in bytes
	Rails []bool // by rail: it carries a part of such a message
}

// mostCarried is the size, in bytes, at which Ranges stops looking: beyond it the rails of a message do not change any
// more.
const mostCarried = 1 << 30

// Ranges divides the sizes from n bytes on into ranges, in order of size.
func Ranges(s strategy.Strategy, costs []strategy.Cost, n int) []Range {
	all := []Range{{uint64(n), carriers(s, costs, n)}}
	for low := n; low < mostCarried; {
		high := max(2*low, 1)
		now := all[len(all)-1].Rails
		if slices.Equal(carriers(s, costs, high), now) {
			low = high
			continue
		}
		from, to := low, high // messages of from bytes come over the rails of now, those of to bytes do not
		for to-from > 1 {
			if middle := from + (to-from)/2; slices.Equal(carriers(s, costs, middle), now) {
				from = middle
			} else {
				to = middle
			}
		}
		all = append(all, Range{uint64(to), carriers(s, costs, to)})
		low = to
	}
	return all
}
