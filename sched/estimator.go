package sched

import "sync/atomic"

// Estimator chooses for how long a waiter polls before it sleeps, by how long the last waits took.
//
// Let B be the time for which polling costs as much as one sleep with its wake-up. A waiter that knows nothing about
// its wait polls for B and then sleeps: it never pays more than twice what a waiter pays that knows the future (Karlin,
// Li, Manasse, Owicki: "Empirical studies of competitive spinning for a shared-memory multiprocessor", 1991). But waits
// rarely lack any pattern. So the Estimator keeps the distribution of the latest waits, and of a few windows, from 0 to
// B, it chooses the cheapest; of equally cheap ones the longest:
//
//	wait <= window:  costs wait         (polling has found what the waiter waits for)
//	wait > window:   costs window + B   (polling was in vain, and the waiter was woken)
//
// If messages come every tenth of B the waiter polls; if they come every 3 B it sleeps at once; if they come in bursts
// it polls for as long as the gaps in a burst.
//
// The state is one word. Six bytes have the share of waits that ended within each window, or after all of them, where a
// new wait counts one eighth; above them are the chosen window, and a count of the waits for which that was 0. Any
// number of threads may use an Estimator at a time; of updates at the same moment some may get lost. The zero value is
// ready and chooses B.
type Estimator struct{ word atomic.Uint64 }

// Window returns for how long the next waiter should poll. spin is B; the result has its unit.
func (e *Estimator) Window(spin int64) int64 {
	return spin / lastShare * windows[lastWindow-int(e.word.Load()>>chosenAt&7)]
}

// ProbeWindow is Window for a waiter that learns only by polling how long its wait took. Of the waiters that should not
// poll, it lets one in 64 poll for B.
func (e *Estimator) ProbeWindow(spin int64) int64 {
	w := e.Window(spin)
	if w == 0 && e.word.Add(1<<triedAt)>>triedAt&63 == 0 {
		return spin
	}
	return w
}

// Took records how long a wait took, in the unit of spin, which is B.
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

// UsuallyShort reports whether most waits end within the shortest window that is not 0, a sixteenth of B.
func (e *Estimator) UsuallyShort() bool { return e.word.Load()&255 > 128 }

// windows are the windows to choose from, in units of B/lastShare.
var windows = [...]int64{0, 1, 2, 4, 8, 16}

const (
	lastWindow = len(windows) - 1
	lastShare  = 16
	chosenAt   = 48 // the bit at which lastWindow less the index of the chosen window begins
	triedAt    = 56 // the bit at which the count of waits that were not to poll begins
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
