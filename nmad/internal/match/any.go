package match

import (
	"sync"
	"sync/atomic"
)

// Any holds the receives and probes that are for a message from any of several gates, each of which has a Matcher.
// A message must go to the receive that was posted first among those of its
// gate and these, and must never slip through between the two; while a program that
// uses none of this pays one look at count per message.
//
// Age: the clock counts the wildcards (of gates, too) that were posted. A wildcard takes
// its age from it by counting (Stamp), an exact receive by looking (Now), so the exact one is
// older exactly if its age is less.
//
// Nothing slips through: the gates that hold unexpected messages have a bit in flags.
//
//	post:     put w into list; count++     |  arrival: count is 0, or nothing in list fits:
//	          look at flags; each gate     |           keep the message; set the gate's flag;
//	          that is flagged looks        |           look at count again; not 0: the gate
//	          through its messages for w   |           looks through its messages
//
// A receive that was posted and not compared with the unexpected messages of a gate yet
// is overlooked by its arrivals (Matcher.searched), lest a younger message go first.
//
// All atomics are sequentially consistent, so one of the two sees the other. A gate looks
// through its messages (Matcher.Search) under its own lock. A flag stays until such a search finds the gate empty: setting it costs
// nothing in steady state.
//
// Any number of threads may call the methods at once: what they need of a lock is given, and lies inside
// those of the gates. It is held for tens of nanoseconds.
type Any[R any] struct {
	clock atomic.Uint64   // wildcards posted; written by a poster of one, read by all receives
	count atomic.Int32    // entries of list; written under mu, read by all arrivals
	flags []atomic.Uint64 // a bit per gate, by rank: it may hold unexpected messages

	_ [128]byte // what follows is written far more often

	mu   sync.Locker
	list wildList[R]
	dead error // what new ones fail with; nil: none
	next int   // rank from which the next search begins, so that no gate is always first
}

// NewAny makes one for so many gates, with the lock that it is to use.
func NewAny[R any](gates int, lock sync.Locker) *Any[R] {
	return &Any[R]{flags: make([]atomic.Uint64, (gates+63)/64), mu: lock}
}

// Now is the age of an exact receive that is posted now.
func (a *Any[R]) Now() uint64 { return a.clock.Load() }

// Stamp is the age of a wildcard that is posted now to a gate.
func (a *Any[R]) Stamp() uint64 { return a.clock.Add(1) }

// Empty says that nothing waits for a message from any gate.
func (a *Any[R]) Empty() bool { return a.count.Load() == 0 }

// Post puts w into the list.
func (a *Any[R]) Post(w *Wild[R]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.recv.Age = a.clock.Add(1)
	a.list.push(w)
	a.count.Add(1)
}

// youngest returns the age of the youngest wildcard; all of list are at most that old.
func (a *Any[R]) youngest() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clock.Load()
}

// Gone says why nothing will come any more; nil: something may.
func (a *Any[R]) Gone() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dead
}

// Remove takes w out and says whether it was there: then it is the caller's.
func (a *Any[R]) Remove(w *Wild[R]) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.remove(w)
}

func (a *Any[R]) remove(w *Wild[R]) bool {
	if !a.list.remove(w) {
		return false
	}
	a.count.Add(-1)
	return true
}

// take takes out the first receive (probes: the first probe) for that tag that is
// older than age; nil: there is none.
func (a *Any[R]) take(tag, age uint64, probes bool) *R {
	if a.Empty() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.list.find(tag, probes)
	if w == nil || w.recv.Age > age {
		return nil
	}
	a.remove(w)
	return w.recv.Of
}

// Fail has what is posted from now on fail with err (Gone). What waits is to be taken with Pop.
func (a *Any[R]) Fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dead = err
}

// Pop takes out the oldest; nil: there is none.
func (a *Any[R]) Pop() *R {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.list.first
	if w == nil {
		return nil
	}
	a.remove(w)
	return w.recv.Of
}

// SearchFrom gives the rank from which a search over so many gates begins.
func (a *Any[R]) SearchFrom(gates int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = (a.next + 1) % gates
	return a.next
}

// Flagged says whether the gate of that rank may hold unexpected messages.
func (a *Any[R]) Flagged(rank int) bool {
	return a.flags[rank/64].Load()&(1<<(rank%64)) != 0
}

func (a *Any[R]) flag(rank int, on bool) {
	if on {
		a.flags[rank/64].Or(1 << (rank % 64))
	} else {
		a.flags[rank/64].And(^uint64(1 << (rank % 64)))
	}
}
