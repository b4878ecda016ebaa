package gate

import "sync/atomic"

// Gate counts the calls of one direction of a link that are inside. It belongs
// to a [Set]. The state is twice the number of callers inside, plus one when
// closed:
//
//	open, n inside ──Enter/Leave── open, n±1 inside
//	open, n inside ──close──────── closed, n inside    (Enter fails from here on)
//	closed, 0 inside ────────────→ drained             (once)
type Gate struct {
	state   atomic.Int64
	drained atomic.Bool
	set     *Set
	_       [128 - 24]byte
}

// Set is a number of gates around one thing that is freed once.
type Set struct {
	gates []Gate
	open  atomic.Int32 // gates that are not drained; written by calls that drain one
	free  func()
}

// New makes n open gates. free runs once, after Close, in whichever goroutine
// leaves last; it must not block.
func New(n int, free func()) *Set {
	s := &Set{gates: make([]Gate, n), free: free}
	for i := range s.gates {
		s.gates[i].set = s
	}
	s.open.Store(int32(n))
	return s
}

// Gate gives the i-th gate.
func (s *Set) Gate(i int) *Gate { return &s.gates[i] }

// Close shuts all gates. It does not wait. Calling it again does nothing.
func (s *Set) Close() {
	for i := range s.gates {
		g := &s.gates[i]
		if g.state.Or(1) == 0 {
			g.drain()
		}
	}
}

// Enter says whether the caller may go on; if so it must call Leave. It costs
// one atomic addition.
func (g *Gate) Enter() bool {
	if g.state.Add(2)&1 == 0 {
		return true
	}
	g.Leave()
	return false
}

// Leave ends what Enter began.
func (g *Gate) Leave() {
	if g.state.Add(-2) == 1 {
		g.drain()
	}
}

// drain may be reached several times, as a late Enter that is turned away
// leaves again; only the first counts.
func (g *Gate) drain() {
	if g.drained.CompareAndSwap(false, true) && g.set.open.Add(-1) == 0 {
		g.set.free()
	}
}
