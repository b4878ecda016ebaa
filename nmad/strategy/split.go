package strategy

import "math"

// Cost is what it costs to move bytes over a rail, as measured or assumed: n bytes take
// Latency + n/Bandwidth.
type Cost struct {
	Latency   int64   // from the request for bytes to the first of them, in ns
	Bandwidth float64 // bytes per ns, which is GB/s; above 0
}

// DefaultCost is assumed of rails that were not measured, all alike.
var DefaultCost = Cost{Latency: 20_000, Bandwidth: 1}

// Load is a rail as a Splitter sees it.
type Load struct {
	Cost
	Bytes int // on the way already, or about to be
}

// end is when the rail has moved n bytes more than it has to, in ns from now.
func (l *Load) end(n int) float64 {
	return float64(l.Latency) + float64(l.Bytes+n)/l.Bandwidth
}

// nearlyNothing is how many bytes a rail may have to move, at least, when it is taken to be idle.
const nearlyNothing = 64 << 10

// low is how many bytes a rail has to move when the next ones should be asked for: else it
// would have nothing to do until they come.
func (l *Load) low() int {
	return max(nearlyNothing, 2*int(float64(l.Latency)*l.Bandwidth))
}

// Idle says whether the rail has nothing to do, or is about to.
func (l *Load) Idle() bool { return l.Bytes <= l.low() }

// Splitter is a Strategy that shares the bytes of a long message out among several
// rails. The receiver of the message asks it, with the lock of the gate held.
type Splitter interface {
	Strategy
	// Split sets shares[i] to how many of the next rest bytes of a message are to be asked for
	// over rails[i] now. What it leaves it is asked about again when a rail is
	// Idle: so it should leave some only to rails that have something to do. Shares below
	// 4 KiB are made 0, unless they end the message.
	Split(rest int, rails []Load, shares []int)
}

// Split asks s, or, if s is no Splitter, gives all to the rail that ends first.
func Split(s Strategy, rest int, rails []Load, shares []int) {
	clear(shares)
	if p, ok := s.(Splitter); ok {
		p.Split(rest, rails, shares)
		return
	}
	first := 0
	for i := range rails {
		if rails[i].end(rest) < rails[first].end(rest) {
			first = i
		}
	}
	shares[first] = rest
}

// Estimate plays through how s would share size bytes out among rails on which nothing else is
// under way, if they cost what is assumed of them.
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
				step = min(step, float64(l.Bytes-l.low())/l.Bandwidth)
			}
		}
		if math.IsInf(step, 1) {
			if !given {
				return // it wants nothing to move
			}
			continue // a rail is idle still, so the next bytes are asked for before any have come
		}
		for i := range rails {
			l := &rails[i]
			l.Bytes = max(0, l.Bytes-int(math.Ceil(min(step*l.Bandwidth, math.MaxInt32))))
		}
	}
}
