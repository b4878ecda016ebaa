package nmad

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
)

// anySource holds the receives and probes of a session that are for a message from
// any gate. A message must go to the receive that was posted first among those of its
// gate and these, and must never slip through between the two; while a program that
// uses none of this pays one look at count per message.
//
// Age: clock counts the wildcards (of gates, too) that were posted. A wildcard takes
// its age from it by counting, an exact receive by looking, so the exact one is
// older exactly if its age is less.
//
// Nothing slips through: the gates that hold unexpected messages have a bit in flags.
//
//	post:     put r into list; count++     |  arrival: count is 0, or nothing in list fits:
//	          look at flags; each gate     |           keep the message; set the gate's flag;
//	          that is flagged looks        |           look at count again; not 0: the gate
//	          through its messages for r   |           looks through its messages
//
// A receive that was posted and not compared with the unexpected messages of a gate yet
// is overlooked by its arrivals (receiver.searched), lest a younger message go first.
//
// All atomics are sequentially consistent, so one of the two sees the other. To
// look through is done under the lock of the gate, by whoever has it (Gate.rescan).
// A flag stays until such a search finds the gate empty: setting it costs
// nothing in steady state.
//
// Lock order: Gate.mu, then mu. mu is held for tens of nanoseconds, and hooks wait
// for it.
type anySource struct {
	clock atomic.Uint64   // wildcards posted; written by whoever posts one, read by all receives
	count atomic.Int32    // entries of list; written under mu, read by all arrivals
	flags []atomic.Uint64 // a bit per gate, by rank: it may hold unexpected messages

	_ [pad]byte

	mu   marcel.SpinLock
	list wildList
	dead error // what new ones fail with; nil: none
	next int   // rank from which the next search begins, so that no gate is always first
}

func newAnySource(size int) *anySource {
	return &anySource{flags: make([]atomic.Uint64, (size+63)/64)}
}

// post puts r into the list.
func (a *anySource) post(r *Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.age = a.clock.Add(1)
	a.list.push(r)
	a.count.Add(1)
}

// now returns the age of the youngest wildcard; all of list are at most that old.
func (a *anySource) now() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.clock.Load()
}

// gone says why nothing will come any more; nil: something may.
func (a *anySource) gone() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dead
}

// remove takes r out and says whether it was there: then it is the caller's.
func (a *anySource) remove(r *Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.list.remove(r) {
		return false
	}
	a.count.Add(-1)
	return true
}

// take takes out the first receive (probes: the first probe) for that tag that is
// older than age; nil: there is none.
func (a *anySource) take(tag, age uint64, probes bool) *Request {
	if a.count.Load() == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.list.find(tag, probes)
	if r == nil || r.age > age {
		return nil
	}
	a.list.remove(r)
	a.count.Add(-1)
	return r
}

// fail makes everything in the list fail with err, and what is posted later, too. It
// returns what was in it.
func (a *anySource) fail(err error) (over requestQueue) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dead = err
	for r := a.list.first; r != nil; r = a.list.first {
		a.list.remove(r)
		a.count.Add(-1)
		over.push(r)
	}
	return over
}

// begin gives the rank from which a search begins.
func (a *anySource) begin(size int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = (a.next + 1) % size
	return a.next
}

func (a *anySource) flagged(rank int) bool {
	return a.flags[rank/64].Load()&(1<<(rank%64)) != 0
}

func (a *anySource) flag(rank int, on bool) {
	if on {
		a.flags[rank/64].Or(1 << (rank % 64))
	} else {
		a.flags[rank/64].And(^uint64(1 << (rank % 64)))
	}
}
