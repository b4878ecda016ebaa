package nmad

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// inbox is what threads have left for the holder of a gate's lock because they found it held. A thread that starts a request and
// finds the lock free handles the request at once. Else it leaves the request here: starting never waits, so hooks may start
// requests. What several threads have left stands in the queue together, where the strategy can put it into one packet.
//
//	starter: push r onto incoming; try the lock: got it: start all; not: go away
//	holder:  let the lock go; look at incoming; not empty: try the lock, start all
//
// Both look after they wrote, so nothing is left behind. Transfers that are copied, loans that were released and searches that are due
// come here in the same way. Threads write all fields but collected without the lock.
type inbox struct {
	g        *Gate
	due      atomic.Int32                 // what the holder must do besides incoming: transfers that are copied; loans that were released; 1 if rescan. See left
	incoming atomic.Pointer[flow.Request] // started while the lock was held, youngest first
	rescan   atomic.Bool                  // the unexpected messages are to be compared with the receives from any source
	released atomic.Pointer[flow.Lease]   // loans that were released, youngest first; each counts in due; see lending.go

	collected requestQueue // taken in from incoming, and not begun yet; under the lock
}

// leave leaves r for the holder of the lock.
func (x *inbox) leave(r *Request) {
	x.push(r)
	if w := x.g.worker; w == nil || !w.takes(x.g) {
		x.g.tend()
	}
}

// push is leave for a caller that sees to it that a thread looks.
func (x *inbox) push(r *Request) {
	for {
		head := x.incoming.Load()
		r.core.Link = head
		if x.incoming.CompareAndSwap(head, &r.core) {
			return
		}
	}
}

// left says whether other threads have left something for the holder of the lock. due is below zero while the
// holder has taken in what a thread has left and that thread has not counted it yet: then there is nothing to do.
// The negative count may hide what another thread has left. The late thread counts last, and then tries the lock, so
// it handles both.
func (x *inbox) left() bool { return x.due.Load() > 0 || x.incoming.Load() != nil }

// wanted says whether the holder should let the lock go soon: other threads wait for it, or have left requests.
func (x *inbox) wanted() bool { return x.g.mu.wanted() || x.incoming.Load() != nil }

// collect takes in what has been left in incoming, in its order: receives are posted,
// so that what arrives is matched with them; all else that there is to do
// is left for handleInbox. It returns the age of which all receives from any source may be compared with this gate's messages: the receives
// of this gate that were posted before them are begun. Under mu.
func (x *inbox) collect() (age uint64) {
	g := x.g
	age = g.any.Now() // first: see match.Any.Now
	if x.incoming.Load() == nil {
		return age
	}
	var first *flow.Request // oldest first
	for c := x.incoming.Swap(nil); c != nil; {
		next := c.Link
		c.Link = first
		c, first = next, c
	}
	for c := first; c != nil; {
		next := c.Link
		if r := requestOf(c); c.Op == flow.OpRecv {
			age = max(age, c.Entry.Age)
			g.startRecv(r)
		} else {
			x.collected.push(r)
		}
		c = next
	}
	return age
}

// lookAgain has the thread that lets the lock go next compare the unexpected messages with the receives from any source before. It may be
// called with and without the lock.
func (x *inbox) lookAgain() {
	if !x.rescan.Swap(true) {
		x.due.Add(1)
	}
}

// takeReceives is collect, and what lookAgain asks for. Under mu.
func (x *inbox) takeReceives() {
	g := x.g
	asked := x.rescan.Load() && x.rescan.Swap(false) // before collect reads the age, which is that of what was asked for, or more
	age := x.collect()
	if asked && g.life.end == nil && (g.track.full || g.track.echoes && !x.collected.Empty()) {
		if x.rescan.Swap(true) { // later: the messages that the process sends itself are to be found
			x.due.Add(-1)
		}
		return
	}
	if asked {
		x.due.Add(-1)
		g.flow.Search(age)
		g.failLost(age)
	}
}

// giveBack leaves a loan that was released for the holder of the lock; if there is none the caller becomes it. It never waits.
func (x *inbox) giveBack(l *flow.Lease) {
	g := x.g
	for {
		l.Next = x.released.Load()
		if x.released.CompareAndSwap(l.Next, l) {
			break
		}
	}
	x.due.Add(1)
	g.tend()
}

// takeReleased takes in what giveBack has left. Under mu, and not while a packet is being dealt with.
func (x *inbox) takeReleased() {
	g := x.g
	if x.released.Load() == nil {
		return
	}
	for l := x.released.Swap(nil); l != nil; {
		next := l.Next
		x.due.Add(-1)
		g.flow.Release(l)
		l = next
	}
	g.memory.closeView()
	g.sendIfDue()
}
