package life

import "sync/atomic"

// Caller is a direction of a link. Each has one caller at a time.
type Caller int

// The callers of a link: those of the calls of driver.Link of these names, Flush counting as Send, Disarm as Arm.
const (
	Send Caller = iota
	Recv
	Push
	Pull
	Arm
	callers
)

// inFlight counts the calls that are in flight in each direction of a link.
type inFlight struct {
	counts    [callers]callCount
	undrained atomic.Int32 // directions that are not drained; calls that drain one write it
	free      func()
}

// callCount counts the calls of one direction. state is twice the number of callers inside, plus one when closed:
//
//	open, n inside ──enter/leave── open, n±1 inside
//	open, n inside ──close──────── closed, n inside    (enter fails from here on)
//	closed, 0 inside ────────────→ drained             (once)
type callCount struct {
	state    atomic.Int64
	drained  atomic.Bool
	inFlight *inFlight
	_        [128 - 24]byte
}

func newInFlight(free func()) *inFlight {
	c := &inFlight{free: free}
	for i := range c.counts {
		c.counts[i].inFlight = c
	}
	c.undrained.Store(int32(callers))
	return c
}

// close makes later calls of enter fail. It may be called again.
func (c *inFlight) close() {
	for i := range c.counts {
		if n := &c.counts[i]; n.state.Or(1) == 0 {
			n.drain()
		}
	}
}

// enter reports whether a call may go on.
func (n *callCount) enter() bool {
	if n.state.Add(2)&1 == 0 {
		return true
	}
	n.leave()
	return false
}

func (n *callCount) leave() {
	if n.state.Add(-2) == 1 {
		n.drain()
	}
}

// drain notes that no caller is inside any more. A late enter that fails leaves again, so drain may be reached
// several times; only the first one counts.
func (n *callCount) drain() {
	if n.drained.CompareAndSwap(false, true) && n.inFlight.undrained.Add(-1) == 0 {
		n.inFlight.free()
	}
}
