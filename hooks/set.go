package hooks

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Each point is one atomic pointer to an immutable slice of hooks, in order of priority; nil when there is none.
// Register and Unregister copy the slice, change the copy, and swing the pointer with a compare-and-swap, again if
// another writer was faster. Fire loads the pointer and walks what it finds: no lock, no reference count, nothing
// written, so that any number of CPUs can fire at once without exchanging a cache line. The collector frees old slices
// when the last one that walks them is through.
//
// A walk may therefore meet a hook that was unregistered meanwhile. So each hook carries a mark, set before the slice
// is changed and looked at immediately before each call: a call begins where the mark is found unset. The rejected
// alternatives: a read-write lock would bounce its count between all CPUs at every idle poll; waiting in Unregister
// until all walks are through would deadlock a hook that unregisters itself.

// Errors of Register, for errors.Is.
var (
	ErrPoint = errors.New("hooks: no such point")     // the Point is none of those below NumPoints
	ErrFunc  = errors.New("hooks: no function given") // the Func is nil
	ErrName  = errors.New("hooks: no name given")     // the name is empty
	ErrSet   = errors.New("hooks: no set")            // the receiver is nil
)

// Set holds the hooks of one scheduler. The zero value is ready. It must not be copied after first
// use. Its methods may be called at the same time, from anywhere.
type Set struct {
	_      [128]byte                     // the neighbors' writes stay off the line that every Fire reads
	points [256]atomic.Pointer[hookList] // one for each value of Point: no check of bounds; the others stay nil
	_      [128]byte
}

// Register adds f to point p; hooks with a lower priority number run first, equal ones in the order in which they came.
// The name is for people, and need not be unique. It never blocks and is visible to every Fire that begins after it
// returned.
func (s *Set) Register(p Point, priority int, name string, f Func) (*Hook, error) {
	return s.RegisterWhile(p, priority, name, nil, 0, f)
}

// RegisterWhile is Register for a hook that has something to do only while a bit of mask is set in
// *word, which any goroutine may change at any time. Otherwise Fire skips the hook as if it had
// answered Quiet, at the cost of a load instead of a call.
func (s *Set) RegisterWhile(p Point, priority int, name string, word *atomic.Uint64, mask uint64, f Func) (*Hook, error) {
	return s.RegisterWithin(p, priority, name, word, mask, mask, f)
}

// RegisterWithin is RegisterWhile for a hook that has something to do only while the bits of mask,
// taken as a number, are from 1 to most. So word can hold a count and, above it, a bit that says that
// there is nothing to do, whatever the count.
func (s *Set) RegisterWithin(p Point, priority int, name string, word *atomic.Uint64, mask, most uint64, f Func) (*Hook, error) {
	switch {
	case s == nil:
		return nil, fmt.Errorf("register %q: %w: the receiver is nil", name, ErrSet)
	case p >= NumPoints:
		return nil, fmt.Errorf("register %q at %v: %w: use Idle, Switch, Timer, Yield or Library", name, p, ErrPoint)
	case f == nil:
		return nil, fmt.Errorf("register %q at %v: %w", name, p, ErrFunc)
	case name == "":
		return nil, fmt.Errorf("register at %v: %w: it is what Registered shows", p, ErrName)
	}
	h := &Hook{call: f, need: need{word, mask, most}, point: p, priority: priority, name: name, set: s}
	insert(&s.points[p], h)
	return h, nil
}

// Fire calls the hooks of point p in the name of VP vp (at least 0; it is not checked) and returns the greatest of
// their verdicts; Quiet if there is no hook, or no such point.
func (s *Set) Fire(p Point, vp int) Verdict {
	if s.points[p].Load() == nil { // this much is inlined; see Silent
		return Quiet
	}
	return s.walk(p, vp)
}

// Silent reports whether Fire would call no hook now: no hook is registered at point p, or none has
// anything to do. It sees the latter only if all hooks of p were registered by RegisterWhile with the
// same word, or by RegisterWithin with the same word and bounds. It is inlined, for callers that fire
// often.
func (s *Set) Silent(p Point) bool {
	l := s.points[p].Load()
	return l == nil || l.idle()
}

// Empty reports whether nothing is registered at point p.
func (s *Set) Empty(p Point) bool {
	return s.points[p].Load() == nil
}

// Registered returns the names of the hooks of point p in the order in which Fire calls them.
func (s *Set) Registered(p Point) []string {
	if s == nil {
		return nil
	}
	var names []string
	for _, h := range s.points[p].Load().all() {
		names = append(names, h.name)
	}
	return names
}
