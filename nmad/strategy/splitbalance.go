package strategy

// SplitBalance shares a long message out so that all rails finish at the same time, given their costs and the bytes
// that they have to move already. It treats short messages as Aggregation does. This is the strategy "split_balance" of
// NewMadeleine, with the ratios of sampled rails (Brunet, Trahay, Denis: "A sampling-based approach for communication
// libraries auto-tuning", 2011).
//
// Costs are never quite right: a rail was measured at another time, or not at all, or also carries bytes of other
// gates. So a rail gets at first no more than half of what it should move, and the next half when it is about to be
// idle. At the end the rails move short pieces, and a rail that is faster than assumed moves more of them (guided
// self-scheduling: Polychronopoulos, Kuck, 1987).
var SplitBalance = builtin(splitBalance{})

type splitBalance struct{ aggregation }

const (
	minShare = 32 << 10 // bytes below which another rail, or another RTR, costs more than it saves
	maxShare = 16 << 20 // bytes of a share, so that a wrong cost is corrected soon enough
	page     = 4 << 10  // shares are rounded up to whole pages
)

func (splitBalance) Name() string { return "split-balance" }

// Split implements Splitter.
func (splitBalance) Split(rest int, rails []Load, shares []int) {
	fill(rest, rails, shares)
	for i, n := range shares {
		switch {
		case !rails[i].Idle():
			shares[i] = 0
		case n > 2*minShare:
			shares[i] = min((n/2+page-1)&^(page-1), maxShare)
		}
	}
}

// fill shares size bytes out so that all rails that get bytes finish at the same time (water filling: the latency of a
// rail, and the bytes that it has to move already, are the ground, and the new bytes are the water). A rail whose share
// would be below minShare gets none, and fill starts over with the rails that remain.
func fill(size int, rails []Load, shares []int) {
	var out uint64 // a bit for each rail that gets nothing
	for in := len(rails); ; in-- {
		moved, bandwidth := float64(size), 0.0
		for i := range rails {
			if out>>i&1 == 0 {
				moved += rails[i].finish(0) * rails[i].Bandwidth
				bandwidth += rails[i].Bandwidth
			}
		}
		end := moved / bandwidth                // when all rails finish, in ns from now
		smallest, largest, left := -1, -1, size // rails with these shares; bytes that have no rail yet
		for i := range rails {
			if shares[i] = 0; out>>i&1 != 0 {
				continue
			}
			n := int((end - rails[i].finish(0)) * rails[i].Bandwidth)
			shares[i] = n
			left -= n
			if smallest < 0 || n <= shares[smallest] {
				smallest = i
			}
			if largest < 0 || n > shares[largest] {
				largest = i
			}
		}
		if in == 1 || shares[smallest] >= minShare {
			shares[largest] += left // the rounding error
			return
		}
		out |= 1 << smallest
	}
}
