package sched

import "sync/atomic"

// Estimator tells how long it is worth to poll for something before to sleep, by how long that took the last times.
//
// To sleep and be woken costs what polling for a time B costs. One that knows nothing polls for B and sleeps then: it never
// pays more than twice what one pays that knows the future (Karlin, Li, Manasse, Owicki: "Empirical studies of competitive
// spinning for a shared-memory multiprocessor", 1991). Arrivals are rarely without any pattern, though. So the Estimator
// keeps how the waits were spread of late, and chooses of a few windows, from none to B, the cheapest, of equals the longest:
//
//	wait <= window:  costs wait         (found by polling)
//	wait > window:   costs window + B   (polled in vain, then woken)
//
// If messages come every tenth of B it polls, if they come every 3 B it sleeps at once, if they come in bursts it polls
// for as long as the gaps in a burst.
//
// It is one word: six bytes with the share of waits that ended within the windows, and after all of them, a new wait
// counting one eighth; which window is chosen; and how many waits were not to poll at all since one was tried. Many may use
// it at a time: what they tell at the same moment may get lost. The zero value is ready, and says B.
type Estimator struct{ word atomic.Uint64 }

// Window returns for how long the next wait should poll, in the unit of spin, which is B.
func (e *Estimator) Window(spin int64) int64 {
	return spin / lastShare * windows[lastWindow-int(e.word.Load()>>chosenAt&7)]
}

// Tries is Window for a waiter that learns only by polling how long a wait took. Of the waits that should not poll, it lets
// one in 64 poll with the whole of B.
func (e *Estimator) Tries(spin int64) int64 {
	w := e.Window(spin)
	if w == 0 && e.word.Add(1<<triedAt)>>triedAt&63 == 0 {
		return spin
	}
	return w
}

// Took tells how long a wait took, in the unit of spin.
func (e *Estimator) Took(wait, spin int64) {
	w := e.word.Load()
	class := 0
	for class < lastWindow && wait > spin/lastShare*windows[class+1] {
		class++
	}
	var shares [lastWindow + 1]int64
	next := w >> triedAt << triedAt
	for i := range shares {
		s := w >> (8 * i) & 255
		if s -= (s + 7) / 8; i == class {
			s += 31
		}
		shares[i] = int64(s)
		next |= s << (8 * i)
	}
	e.word.CompareAndSwap(w, next|uint64(lastWindow-cheapest(&shares))<<chosenAt)
}

// Soon tells whether most waits end within the shortest window that is not 0, a sixteenth of B.
func (e *Estimator) Soon() bool { return e.word.Load()&255 > 128 }

// windows are those to choose from, in shares of B, of which lastShare are the whole.
var windows = [...]int64{0, 1, 2, 4, 8, 16}

const (
	lastWindow = len(windows) - 1
	lastShare  = 16
	chosenAt   = 48 // bits: lastWindow less the index of the window
	triedAt    = 56 // bits: a count of waits that were not to poll
)

// cheapest returns the index of the window that costs least if waits are distributed as shares say.
func cheapest(shares *[lastWindow + 1]int64) (best int) {
	least := int64(-1)
	for i := lastWindow; i >= 0; i-- {
		cost := int64(0)
		for class, share := range shares {
			if class < i {
				cost += share * (windows[class] + windows[class+1]) / 2
			} else {
				cost += share * (windows[i] + lastShare)
			}
		}
		if least < 0 || cost < least {
			best, least = i, cost
		}
	}
	return best
}
