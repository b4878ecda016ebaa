package strategy

import "math"

// Cost is the cost of moving bytes over a rail, measured or assumed: n bytes take Latency + n/Bandwidth nanoseconds.
type Cost struct {
	Latency   int64   // from the request for bytes to the first of them, in ns
	Bandwidth float64 // bytes per ns, which is GB/s; above 0
}

// DefaultCost is the assumed cost of each rail that was not measured.
var DefaultCost = Cost{Latency: 20_000, Bandwidth: 1}

// Load is what a Splitter knows about a rail.
type Load struct {
	Cost
	Bytes int // bytes that the receiver has asked for over this rail and that have not come yet
}

// finish returns the time, in ns from now, at which the rail would have moved n bytes beside those of Bytes.
func (l *Load) finish(n int) float64 {
	return float64(l.Latency) + float64(l.Bytes+n)/l.Bandwidth
}

// leastBacklog is the number of bytes to move up to which any rail counts as idle.
const leastBacklog = 64 << 10

// backlog is the number of bytes to move at which the receiver should ask for the next ones, so that the rail does not
// run dry before they come.
func (l *Load) backlog() int {
	return max(leastBacklog, 2*int(float64(l.Latency)*l.Bandwidth))
}

// Idle reports whether the rail has nothing to move, or is about to have nothing.
func (l *Load) Idle() bool { return l.Bytes <= l.backlog() }

// Splitter is a Strategy that shares the bytes of a long message out among several rails. The receiver of the message
// calls Split, with the lock of the gate held; see Strategy for the rules.
type Splitter interface {
	Strategy
	// Split sets shares[i] to how many of the next rest bytes of a message the receiver is to ask for over rails[i]
	// now. All shares are 0 at first. Bytes that Split leaves out wait: the receiver calls Split again when a rail is
	// Idle. So Split should leave bytes out only if a rail is not Idle. The receiver makes shares below 4 KiB 0, unless
	// they end the message.
	Split(rest int, rails []Load, shares []int)
}

// Split calls the Split of s; if s is no Splitter it gives all bytes to the rail that would finish first.
func Split(s Strategy, rest int, rails []Load, shares []int) {
	clear(shares)
	if p, ok := s.(Splitter); ok {
		p.Split(rest, rails, shares)
		return
	}
	first := 0
	for i := range rails {
		if rails[i].finish(rest) < rails[first].finish(rest) {
			first = i
		}
	}
	shares[first] = rest
}

// Estimate simulates how s would share a message of size bytes out among rails on which nothing else moves, if the
// rails cost what rails says. It sets shares[i] to the bytes of rails[i], and changes rails.
func Estimate(s Strategy, size int, rails []Load, shares []int) {
	part := make([]int, len(rails))
	clear(shares)
	for size > 0 {
		Split(s, size, rails, part)
		given := false
		for i, n := range part {
			n = max(min(n, size), 0)
			given = given || n > 0
			rails[i].Bytes += n
			shares[i], size = shares[i]+n, size-n
		}
		step := math.Inf(1) // until the first rail is idle, in ns
		for i := range rails {
			if l := &rails[i]; !l.Idle() {
				step = min(step, float64(l.Bytes-l.backlog())/l.Bandwidth)
			}
		}
		if math.IsInf(step, 1) {
			if !given {
				return // s leaves all bytes out although the rails are idle
			}
			continue // all rails are still idle, so the receiver asks for the next bytes at once
		}
		for i := range rails {
			l := &rails[i]
			l.Bytes = max(0, l.Bytes-int(math.Ceil(min(step*l.Bandwidth, math.MaxInt32))))
		}
	}
}
