package pioman

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// adaptation chooses how long an idle processor polls before it blocks in the kernel.
//
// To block costs a wake-up, which is taken to be worth BlockingDelay of polling. Whoever
// knows nothing does best to poll for just so long and then to block: he never spends
// more than twice what one would who knows the future (Karlin, Li, Manasse, Owicki:
// "Empirical studies of competitive spinning for a shared-memory multiprocessor", 1991).
// Arrivals are rarely without any pattern, though. So for each of a few windows, from
// none to the whole delay, the mean of what it would have cost is kept, over the waits that were
// observed, the older ones counting less and less; the cheapest window is used. If
// messages come every 100 us an idle processor polls, if they come every 3 ms it
// blocks at once, if they come in bursts it polls for as long as the gaps in a burst.
//
//	wait ≤ window:  costs wait              (found by polling)
//	wait > window:  costs window + delay    (polled in vain, then woken)
//
// What arrives while all processors compute is found by hooks or by the spare LWP; the mean
// of the waits decides which (crowd).
type adaptation struct {
	window atomic.Int64 // cycles; who takes a sample writes, idle hooks read
	mean   atomic.Int64 // cycles: of the waits, capped at forgetful delays; likewise

	_      [line - 16]byte
	mask   atomic.Uint32 // 1: somebody takes a sample; others drop theirs
	adapts bool
	delay  int64
	costs  [len(windowShares)]int64 // cycles; the mask's holder's

	polledFor  atomic.Uint64 // arrivals found by a polling idle processor
	blockedFor atomic.Uint64 // arrivals that the kernel announced to one who blocked
	changes    atomic.Uint64 // how often another window was chosen
	_          [line]byte
}

// windowShares are the windows to choose from, in sixteenths of the delay.
var windowShares = [...]int64{0, 1, 2, 4, 8, 16}

const (
	weight    = 8  // a new wait changes the means by one eighth
	forgetful = 64 // a wait longer than so many delays counts like one of that length

	// crowd is how close, in ns, arrivals have to follow each other for polling to be cheaper than to be woken for each: twice
	// what a wake-up across cores costs in CPU time.
	crowd = 40_000
)

func (d *adaptation) init(delay int64, adapts bool) {
	d.delay, d.adapts = delay, adapts
	d.window.Store(delay)
}

// arrived takes the wait, in cycles, that has just ended: since things went quiet, or since
// the processor became idle.
func (d *adaptation) arrived(wait int64, blocked bool) {
	if blocked {
		d.blockedFor.Add(1)
	} else {
		d.polledFor.Add(1)
	}
	if !d.adapts || d.mask.Load() != 0 || !d.mask.CompareAndSwap(0, 1) {
		return
	}
	wait = min(max(wait, 0), forgetful*max(d.delay, 1))
	mean := d.mean.Load()
	d.mean.Store(mean + (wait-mean)/weight)
	best, least := len(windowShares)-1, int64(-1)
	for i := len(windowShares) - 1; i >= 0; i-- { // of equally cheap ones the longest
		window := d.delay * windowShares[i] / 16
		cost := wait
		if wait > window {
			cost = window + d.delay
		}
		d.costs[i] += (cost - d.costs[i]) / weight
		if least < 0 || d.costs[i] < least {
			best, least = i, d.costs[i]
		}
	}
	if window := d.delay * windowShares[best] / 16; window != d.window.Load() {
		d.window.Store(window)
		d.changes.Add(1)
	}
	d.mask.Store(0)
}

// crowded tells whether arrivals follow each other so closely that hooks had better
// poll for them.
func (d *adaptation) crowded() bool {
	return !d.adapts || d.mean.Load() < asm.ToCycles(crowd) && d.blockedFor.Load()+d.polledFor.Load() >= weight
}
