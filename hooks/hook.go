package hooks

import "sync/atomic"

// Func is the function of a hook. vp is the number of the VP in whose name it is called. It must not block and must not
// switch threads. Calls for several VPs may run at the same time, and so may a call on the clock and one on the VP
// itself.
type Func func(vp int) Verdict

// Hook is one registration. The pointer that Register returned is valid for ever.
type Hook struct {
	call     Func
	need     need
	gone     atomic.Bool // Unregister sets it once; each walk reads it before each call
	point    Point
	priority int
	name     string
	set      *Set // in which it is registered
}

// need says when a hook has something to do: while 1 <= *word & mask <= most; always if word is nil.
type need struct {
	word       *atomic.Uint64
	mask, most uint64
}

// none reports whether the hook has nothing to do. A masked word of 0 less 1 wraps around, and is more than most.
func (n *need) none() bool { return n.word != nil && n.word.Load()&n.mask-1 >= n.most }

// or returns the condition under which n or m has something to do; if one need cannot express that,
// the need that is always met.
func (n need) or(m need) need {
	switch {
	case n == m:
		return n
	case n.word == m.word && n.most == n.mask && m.most == m.mask:
		return need{n.word, n.mask | m.mask, n.mask | m.mask}
	}
	return need{}
}

// Name returns the name with which the hook was registered.
func (h *Hook) Name() string {
	if h == nil {
		return ""
	}
	return h.name
}

// Unregister takes the hook out. On return no new call begins; a call that began before may still run.
// Unregister never blocks. It may be called from anywhere, also by the hook itself, and any number of
// times.
func (h *Hook) Unregister() {
	if h == nil || h.set == nil {
		return
	}
	h.gone.Store(true) // from here on walks under way skip it, too
	remove(&h.set.points[h.point], h)
}
