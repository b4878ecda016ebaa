package crossover

import (
	"slices"

	"github.com/pm2-go/pm2/nmad/strategy"
)

// Limit returns the size up to which messages go eagerly, over the first rail. limits has, for each rail, the
// measured size up to which that is not slower than a rendezvous whose bytes come over this rail alone (0: not measured).
// The rails over which the strategy would send a message depend on its size: with a second rail that is about as fast as
// the first one, or faster, a rendezvous pays off earlier. So the limit is the largest size that holds for every rail that
// would bring a part of a message of that size; rail is the rail that sets it. 0: none was measured.
func Limit(s strategy.Strategy, costs []strategy.Cost, limits []int) (limit, rail int) {
	least := 0 // of those measured
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

// holds says that no rail over which a message of n bytes would come has a limit below that.
func holds(s strategy.Strategy, costs []strategy.Cost, limits []int, n int) bool {
	for i, carries := range carriers(s, costs, n) {
		if carries && limits[i] != 0 && limits[i] < n {
			return false
		}
	}
	return true
}

// carriers says, by rail, whether it brings a part of a message of n bytes when nothing else is under way.
func carriers(s strategy.Strategy, costs []strategy.Cost, n int) []bool {
	loads, shares := make([]strategy.Load, len(costs)), make([]int, len(costs))
	for i, c := range costs {
		loads[i].Cost = c
	}
	strategy.Estimate(s, n, loads, shares)
	some := make([]bool, len(costs))
	for i, share := range shares {
		some[i] = share > 0
	}
	return some
}

// Range is a range of sizes whose messages come over the same rails.
type Range struct {
	From  uint64
	Rails []bool // by number: which they are
}

// mostCarried is the size, in bytes, from which on the rails of a message do not change any more: the bytes that the
// fastest of them carries in a second.
const mostCarried = 1 << 30

// Ranges divides the sizes from n on by the rails that bring them.
func Ranges(s strategy.Strategy, costs []strategy.Cost, n int) []Range {
	all := []Range{{uint64(n), carriers(s, costs, n)}}
	for low := n; low < mostCarried; {
		high := max(2*low, 1)
		now := all[len(all)-1].Rails
		if slices.Equal(carriers(s, costs, high), now) {
			low = high
			continue
		}
		from, to := low, high // from is as now, to is not
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
