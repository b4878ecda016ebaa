package hooks

import (
	"slices"
	"sync/atomic"
)

// hookList is a point's hooks in order of priority; it is never changed once it is published. Writers replace it by
// compare-and-swap against each other; walks only load it. A list cannot come back at the same address while a writer
// still holds it, for the collector sees the writer: no ABA.
type hookList struct {
	hooks []*Hook
	need  need // of all hooks together: if it is not met Fire need not walk the list
}

// newList returns nil for no hooks, so that Fire is one load again.
func newList(hooks []*Hook) *hookList {
	if len(hooks) == 0 {
		return nil
	}
	l := &hookList{hooks: hooks, need: hooks[0].need}
	for _, h := range hooks[1:] {
		l.need = l.need.or(h.need)
	}
	return l
}

// all returns the hooks of l, which may be nil.
func (l *hookList) all() []*Hook {
	if l == nil {
		return nil
	}
	return l.hooks
}

// idle reports whether no hook of l has anything to do.
func (l *hookList) idle() bool { return l.need.none() }

// insert adds h to a list, behind all hooks of the same or a lower priority number.
func insert(at *atomic.Pointer[hookList], h *Hook) {
	for {
		before := at.Load()
		old := before.all()
		i := len(old)
		for i > 0 && old[i-1].priority > h.priority {
			i--
		}
		if at.CompareAndSwap(before, newList(slices.Concat(old[:i], []*Hook{h}, old[i:]))) {
			return
		}
	}
}

// remove takes h out of a list, if it is there.
func remove(at *atomic.Pointer[hookList], h *Hook) {
	for {
		before := at.Load()
		old := before.all()
		i := slices.Index(old, h)
		if i < 0 {
			return
		}
		if at.CompareAndSwap(before, newList(slices.Concat(old[:i], old[i+1:]))) {
			return
		}
	}
}

// walk calls the hooks of point p that have something to do and are not unregistered, and returns the greatest verdict.
// A value above Busy counts as Busy.
func (s *Set) walk(p Point, vp int) Verdict {
	verdict := Quiet
	for _, h := range s.points[p].Load().all() {
		if !h.need.none() && !h.gone.Load() { // pairs with the store in Unregister
			verdict = max(verdict, h.call(vp))
		}
	}
	return min(verdict, Busy)
}
