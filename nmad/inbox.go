package nmad

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// gateInbox holds what threads leave for the holder of a gate's lock because they find it held. A thread that starts a request
// and finds the lock free handles the request at once. Else it leaves the request here: to start a request never waits, so
// hooks may do it. Requests that several threads have left are queued together, so the strategy can put them into one
// packet.
//
//	starter: push r onto incoming; try the lock: got it: start all; not: go away
//	holder:  let the lock go; look at incoming; not empty: try the lock, start all
//
// Both look after they wrote, so no request is left behind. Transfers that are copied, loans that were released and
// searches that are due come here in the same way. Threads write all fields without the lock.
type gateInbox struct {
	due      atomic.Int32                 // what the holder must do besides incoming: transfers that are copied; loans that were released; 1 if rescan. See left
	incoming atomic.Pointer[flow.Request] // started while the lock was held, youngest first
	rescan   atomic.Bool                  // the unexpected messages are to be compared with the receives from any source
	lane     atomic.Pointer[lane.Lane]    // whose slips are to be posted; nil: there is none; set once, under the lock
	released atomic.Pointer[flow.Lease]   // loans that were released, youngest first; each counts in due; see loan.go
}

// leaveRequest leaves r for the holder of the lock.
func (g *Gate) leaveRequest(r *Request) {
	g.inbox.push(r)
	if w := g.worker; w == nil || !w.takes(g) {
		g.tend()
	}
}

// push is leaveRequest for a caller that makes sure that a thread looks.
func (in *gateInbox) push(r *Request) {
	for {
		head := in.incoming.Load()
		r.core.Link = head
		if in.incoming.CompareAndSwap(head, &r.core) {
			return
		}
	}
}

// left says whether other threads have left something for the holder of the lock. due is below zero while the
// holder has taken in what a thread has left and that thread has not counted it yet: then there is nothing to do.
// The negative count may hide what another thread has left. The late thread counts last, and then tries the lock, so
// it handles both.
func (in *gateInbox) left() bool { return in.due.Load() > 0 || in.incoming.Load() != nil || in.slips() }

// slips says whether code outside of Go has begun receives that are to be posted.
func (in *gateInbox) slips() bool {
	l := in.lane.Load()
	return l != nil && l.Waiting()
}

// lockWanted says whether the holder should let the lock go soon: other threads wait for it, or have left requests.
func (g *Gate) lockWanted() bool { return g.mu.Wanted() || g.inbox.incoming.Load() != nil }

// Begin takes in what has been left in incoming, in its order: receives are posted, so that what arrives is matched with
// them; all else that there is to do is left for handleInbox. It returns the age of which all receives from any source may
// be compared with this gate's messages: the receives of this gate that were posted before them are begun.
func (h *lockedGate) Begin() (age uint64) {
	age = h.g.any.Now() // first: see match.Any.Now
	h.takeSlips()       // what is in incoming is younger
	if h.g.inbox.incoming.Load() == nil {
		return age
	}
	var first *flow.Request // oldest first
	for c := h.g.inbox.incoming.Swap(nil); c != nil; {
		next := c.Link
		c.Link = first
		c, first = next, c
	}
	for c := first; c != nil; {
		next := c.Link
		if r := requestOf(c); c.Op == flow.OpRecv {
			age = max(age, c.Entry.Age)
			h.startRecv(r)
		} else {
			h.started.push(r)
		}
		c = next
	}
	return age
}

// lookAgain has the thread that lets the lock go next compare the unexpected messages with the receives from any source
// before. It may be called with and without the lock.
func (g *Gate) lookAgain() {
	if !g.inbox.rescan.Swap(true) {
		g.inbox.due.Add(1)
	}
}

// takeReceives does what Begin does, and the search that lookAgain has asked for.
func (h *lockedGate) takeReceives() {
	asked := h.g.inbox.rescan.Load() && h.g.inbox.rescan.Swap(false) // before Begin reads the age, which is that of what was asked for, or more
	age := h.Begin()
	if asked && h.endErr == nil && (h.echoDue || h.echoes && !h.started.Empty()) {
		if h.g.inbox.rescan.Swap(true) { // later: the messages that the process sends itself are to be found
			h.g.inbox.due.Add(-1)
		}
		return
	}
	if asked {
		h.g.inbox.due.Add(-1)
		h.flow.Search(age)
		h.failLost(age)
	}
}

// leaveReleased leaves a loan that was released for the holder of the lock; if there is none the caller becomes it. It
// never waits.
func (g *Gate) leaveReleased(l *flow.Lease) {
	for {
		l.Next = g.inbox.released.Load()
		if g.inbox.released.CompareAndSwap(l.Next, l) {
			break
		}
	}
	g.inbox.due.Add(1)
	g.tend()
}

// takeReleased takes in the loans that leaveReleased has left. The holder must not call it while it handles a packet.
func (h *lockedGate) takeReleased() {
	if h.g.inbox.released.Load() == nil {
		return
	}
	for l := h.g.inbox.released.Swap(nil); l != nil; {
		next := l.Next
		h.g.inbox.due.Add(-1)
		h.flow.Release(l)
		l = next
	}
	h.closeView()
	h.sendIfDue()
}
