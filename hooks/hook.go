package hooks

import "sync/atomic"

// Func is what gets called: vp is the number of the virtual processor in whose
// name. It must not block and must not switch threads. Calls for several
// processors run at the same time, and one on the timer thread at the same
// time as one on the processor itself.
type Func func(vp int) Verdict

// Hook is one registration. The pointer that Register returned is valid for ever.
type Hook struct {
	call     Func
	word     *atomic.Uint64 // nil, or the word that says whether there is anything to do
	mask     uint64         // in one of these bits
	gone     atomic.Bool    // set once by Unregister, read by every walk before every call
	point    Point
	priority int
	name     string
	set      *Set
}

// Name returns what the hook was registered as.
func (h *Hook) Name() string {
	if h == nil {
		return ""
	}
	return h.name
}

// Unregister takes the hook out. On return no new call begins; one that began
// before may still be running. It never blocks, may be called from anywhere, the hook
// itself included, and any number of times.
func (h *Hook) Unregister() {
	if h == nil || h.set == nil {
		return
	}
	h.gone.Store(true) // from here on, also walks under way pass it by
	remove(&h.set.points[h.point], h)
}
