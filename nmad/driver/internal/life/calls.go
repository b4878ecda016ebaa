package life

import "sync/atomic"

// Caller is a direction of a link, which has one caller at a time.
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

// inFlight counts the calls of all directions of one link that are in flight.
type inFlight struct {
	of   [callers]callCount
	open atomic.Int32 // counts that are not drained; written by calls that drain one
	free func()
}

// callCount is that of one direction. The state is twice the number of callers inside, plus one when
// closed:
//
//	open, n inside ──enter/leave── open, n±1 inside
//	open, n inside ──close──────── closed, n inside    (enter fails from here on)
//	closed, 0 inside ────────────→ drained             (once)
type callCount struct {
	state   atomic.Int64
	drained atomic.Bool
	calls   *inFlight
	_       [128 - 24]byte
}

func newCalls(free func()) *inFlight {
	c := &inFlight{free: free}
	for i := range c.of {
		c.of[i].calls = c
	}
	c.open.Store(int32(callers))
	return c
}

// close may be called again.
func (c *inFlight) close() {
	for i := range c.of {
		if n := &c.of[i]; n.state.Or(1) == 0 {
			n.drain()
		}
	}
}

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

// drain may be reached several times, as a late enter that fails
// leaves again; only the first counts.
func (n *callCount) drain() {
	if n.drained.CompareAndSwap(false, true) && n.calls.open.Add(-1) == 0 {
		n.calls.free()
	}
}
