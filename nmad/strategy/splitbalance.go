package strategy

// SplitBalance shares long messages out so that all rails end at the same time, by what
// they cost and by what they have to do already, and treats short ones as Aggregation does.
// It is the strategy "split_balance" of NewMadeleine, with the ratios of sampled
// rails (Brunet, Trahay, Denis: "A sampling-based approach for communication libraries
// auto-tuning", 2011).
//
// Costs are never quite right, since rails were measured at another time, or not at all, or
// carry the bytes of others as well. So a rail gets no more than half of what it should
// move, and the next half when it is about to be idle: at the end the rails
// move short pieces, and a rail that is faster than assumed moves more of them (guided
// self-scheduling: Polychronopoulos, Kuck, 1987).
var SplitBalance = builtin(splitBalance{})

type splitBalance struct{ aggregation }

const (
	least = 32 << 10 // bytes below which another rail, or another request, is not worth it
	most  = 16 << 20 // bytes of a chunk, so that what was assumed is corrected soon enough
	page  = 4 << 10
)

func (splitBalance) Name() string { return "split-balance" }

// Split implements Splitter.
func (splitBalance) Split(rest int, rails []Load, shares []int) {
	fill(rest, rails, shares)
	for i, n := range shares {
		switch {
		case !rails[i].Idle():
			shares[i] = 0
		case n > 2*least:
			shares[i] = min((n/2+page-1)&^(page-1), most)
		}
	}
}

// fill shares size bytes out so that all rails that get some end at the same time: of
// rails with that much to do, and latency, before they can begin, as water of
// columns of different heights. Rails whose share would not be worth it get none.
func fill(size int, rails []Load, shares []int) {
	var out uint64 // rails that get nothing
	for in := len(rails); ; in-- {
		moved, bandwidth := float64(size), 0.0
		for i := range rails {
			if out>>i&1 == 0 {
				moved += rails[i].end(0) * rails[i].Bandwidth
				bandwidth += rails[i].Bandwidth
			}
		}
		end := moved / bandwidth
		worst, fastest, left := -1, -1, size
		for i := range rails {
			if shares[i] = 0; out>>i&1 != 0 {
				continue
			}
			n := int((end - rails[i].end(0)) * rails[i].Bandwidth)
			shares[i] = n
			left -= n
			if worst < 0 || n <= shares[worst] {
				worst = i
			}
			if fastest < 0 || n > shares[fastest] {
				fastest = i
			}
		}
		if in == 1 || shares[worst] >= least {
			shares[fastest] += left // what rounding has left
			return
		}
		out |= 1 << worst
	}
}
