package nmad

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/lane"
)

// gateInbox is what threads leave for the holder of a gate's lock. A thread that starts a request and finds the lock
// free begins the request itself. Otherwise it leaves the request here, so that starting a request never waits, and
// hooks may do it. The holder queues all requests in the inbox together, so that the strategy can put their messages
// into one packet.
//
//	starter: push r onto incoming; then try the lock: if it is free begin all that is in incoming, else return
//	holder:  release the lock; then look at incoming: if it is not empty try the lock, and begin all that is there
//
// Each of the two writes before it looks, so no request is left behind. Copied transfers, released loans and searches
// that are due come to the holder in the same way. All fields are written without the lock, unless they say otherwise.
type gateInbox struct {
	due      atomic.Int32                 // number of copied transfers, of entries of released, and 1 if rescan is set; see left
	incoming atomic.Pointer[flow.Request] // list of requests that were started, the youngest first
	rescan   atomic.Bool                  // the unexpected messages are to be compared with the receives from any source
	lane     atomic.Pointer[lane.Lane]    // the lane of C code, or nil, whose slips are to be posted; set once, under the lock
	released atomic.Pointer[flow.Lease]   // list of loans that were released, the youngest first; see loan.go
}

// leaveRequest leaves r for the holder of the lock, or for the worker.
func (g *Gate) leaveRequest(r *Request) {
	g.inbox.push(r)
	if w := g.worker; w == nil || !w.takes(g) {
		g.tend()
	}
}

// push adds r to incoming. The caller makes sure that a thread looks there.
func (in *gateInbox) push(r *Request) {
	for {
		head := in.incoming.Load()
		r.core.Next = head
		if in.incoming.CompareAndSwap(head, &r.core) {
			return
		}
	}
}

// left reports whether other threads have left something for the holder of the lock. A thread that leaves something
// first adds it, and then counts it in due. If the holder takes it in between, due is below 0 until the thread has
// counted. A negative due may hide what another thread has left; but the thread that counts last then tries the lock,
// and handles all.
func (in *gateInbox) left() bool { return in.due.Load() > 0 || in.incoming.Load() != nil || in.slips() }

// slips reports whether C code has begun receives that are to be posted.
func (in *gateInbox) slips() bool {
	l := in.lane.Load()
	return l != nil && l.Waiting()
}

// lockWanted reports whether the holder should release the lock soon: other threads wait for it, or have left requests.
func (g *Gate) lockWanted() bool { return g.mu.Wanted() || g.inbox.incoming.Load() != nil }

// Begin begins the receives in incoming, in their order, so that a message that has arrived is matched with them. It
// moves all other requests to started, for handleInbox. It returns the age up to which receives from any source may be
// compared with this gate's messages: all receives of this gate that were posted before such a receive have begun.
func (h *lockedGate) Begin() (age uint64) {
	age = h.gate.anyList.Now() // first: see match.AnyList.Now
	h.takeSlips()              // before incoming: they are older
	if h.gate.inbox.incoming.Load() == nil {
		return age
	}
	var first *flow.Request // oldest first
	for c := h.gate.inbox.incoming.Swap(nil); c != nil; {
		next := c.Next
		c.Next = first
		c, first = next, c
	}
	for c := first; c != nil; {
		next := c.Next
		if r := requestOf(c); c.Kind == flow.RequestRecv {
			age = max(age, c.Entry.Age)
			h.startRecv(r)
		} else {
			h.started.push(r)
		}
		c = next
	}
	return age
}

// lookAgain makes the next thread that releases the lock compare the unexpected messages with the receives from any
// source first. It may be called with and without the lock.
func (g *Gate) lookAgain() {
	if !g.inbox.rescan.Swap(true) {
		g.inbox.due.Add(1)
	}
}

// takeReceives calls Begin, and does the search that lookAgain has asked for.
func (h *lockedGate) takeReceives() {
	// Before Begin: so its age covers the receive for which the search was asked.
	asked := h.gate.inbox.rescan.Load() && h.gate.inbox.rescan.Swap(false)
	age := h.Begin()
	if asked && h.endErr == nil && (h.echoDue || h.echoes && !h.started.Empty()) {
		if h.gate.inbox.rescan.Swap(true) { // search later, when echo has received the messages that this process sends to itself
			h.gate.inbox.due.Add(-1)
		}
		return
	}
	if asked {
		h.gate.inbox.due.Add(-1)
		h.flow.Search(age)
		h.failLost(age)
	}
}

// leaveReleased leaves a released loan for the holder of the lock. If the lock is free, it handles the loan itself. It
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

// takeReleased handles the loans that leaveReleased has left. The holder must not call it while it handles a packet.
func (h *lockedGate) takeReleased() {
	if h.gate.inbox.released.Load() == nil {
		return
	}
	for l := h.gate.inbox.released.Swap(nil); l != nil; {
		next := l.Next
		h.gate.inbox.due.Add(-1)
		h.flow.Release(l)
		l = next
	}
	h.closeView()
	h.sendIfDue()
}
