package inflight

import "sync/atomic"

// Calls counts the calls of one direction of a link that are in flight. It belongs
// to a [Set]. The state is twice the number of callers inside, plus one when
// closed:
//
//	open, n inside ──Enter/Leave── open, n±1 inside
//	open, n inside ──close──────── closed, n inside    (Enter fails from here on)
//	closed, 0 inside ────────────→ drained             (once)
type Calls struct {
	state   atomic.Int64
	drained atomic.Bool
	set     *Set
	_       [128 - 24]byte
}

// Set is the counts of all directions of one link, whose resources are freed once.
type Set struct {
	calls []Calls
	open  atomic.Int32 // counts that are not drained; written by calls that drain one
	free  func()
}

// New makes n open counts. free runs once, after Close, in the goroutine that
// leaves last; it must not block.
func New(n int, free func()) *Set {
	s := &Set{calls: make([]Calls, n), free: free}
	for i := range s.calls {
		s.calls[i].set = s
	}
	s.open.Store(int32(n))
	return s
}

// Calls gives the i-th gate.
func (s *Set) Calls(i int) *Calls { return &s.calls[i] }

// Close has all later calls of Enter fail. It does not wait. Calling it again does nothing.
func (s *Set) Close() {
	for i := range s.calls {
		g := &s.calls[i]
		if g.state.Or(1) == 0 {
			g.drain()
		}
	}
}

// Enter says whether the caller may go on; if so it must call Leave. It costs
// one atomic addition.
func (g *Calls) Enter() bool {
	if g.state.Add(2)&1 == 0 {
		return true
	}
	g.Leave()
	return false
}

// Leave ends what Enter began.
func (g *Calls) Leave() {
	if g.state.Add(-2) == 1 {
		g.drain()
	}
}

// drain may be reached several times, as a late Enter that fails
// leaves again; only the first counts.
func (g *Calls) drain() {
	if g.drained.CompareAndSwap(false, true) && g.set.open.Add(-1) == 0 {
		g.set.free()
	}
}
