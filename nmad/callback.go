package nmad

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// upcalls is the queue of calls of the program's functions that are due at a gate. The thread that has polled the gate
// runs them without any lock, one after the other, in the order of their events. A call may lead to further ones, for
// instance because it starts a request that is done at once: these are added to the queue, so the stack does not grow.
type upcalls struct {
	mu      marcel.SpinLock // guards the other fields; may be taken inside Gate.mu
	queue   []upcall
	next    int  // index in queue of the first call that was not run
	running bool // a thread runs the calls, and will see those that are added
}

// upcall is one call: of a function of the request (Operation.Done or Operation.Choose), or, if request is nil, of the
// monitors.
type upcall struct {
	request *Request
	event   Event
}

// push adds a call.
func (u *upcalls) push(c upcall) {
	u.mu.Lock()
	if u.next == len(u.queue) {
		u.queue, u.next = u.queue[:0], 0
	}
	u.queue = append(u.queue, c)
	u.mu.Unlock()
}

// pop takes out the next call, and makes the caller the runner. It returns false if there is no call, or if another
// thread is the runner. runner reports whether the caller is the runner already.
func (u *upcalls) pop(runner bool) (c upcall, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running && !runner {
		return c, false
	}
	if u.running = u.next < len(u.queue); !u.running {
		return c, false
	}
	c = u.queue[u.next]
	u.queue[u.next] = upcall{}
	u.next++
	return c, true
}

// callUser runs the calls that are due, unless another thread does. The caller holds no lock.
func (g *Gate) callUser() {
	if a := g.private; a != nil {
		defer a.admit()()
	}
	c, ok := g.upcalls.pop(false)
	if !ok {
		return
	}
	mark := callers.enter()
	defer mark.leave()
	for ; ok; c, ok = g.upcalls.pop(true) {
		flow.CallUser(func() {
			switch r := c.request; {
			case r == nil:
				g.monitors.tell(c.event)
			case r.core.Stage == flow.Choosing:
				g.choose(r)
			default:
				f := r.extrasOrNil().onDone
				r.completion.Signal(bitDone | bitReusable)
				f(r)
			}
		})
	}
}

// choose calls the Operation.Choose of a receive whose message has come, and goes on with the receive.
func (g *Gate) choose(r *Request) {
	tag, size := r.core.HeldMessage()
	r.core.Data.Set(r.extrasOrNil().chooser(Envelope{g.rank, tag, size}))
	r.core.Kind = flow.RequestResume
	g.submit(r)
}

// InCallback reports whether the caller runs inside a function that this package calls: Operation.Done,
// Operation.Choose, or a monitor. There a thread must not wait: what it waits for may need the gate whose other calls
// wait for this one. A wait of this package that would have to sleep there fails with pioman.ErrInHandler. If very many
// threads run callbacks at once, InCallback may overlook one of them. It takes some nanoseconds.
func InCallback() bool { return callers.has(asm.G()) }

// callers is the set of the threads and goroutines that run callbacks.
var callers callerSet

// callerSet is a hash set of values of asm.G. Each value is in one of the callerTries places from the one to which its
// hash leads. A place has a cache line of its own, which seldom another thread writes.
type callerSet [64]caller

type caller struct {
	// g is 0 if the place is free. A thread takes a free place by a compare-and-swap against other threads, and frees
	// it by a store.
	g atomic.Uintptr
	_ [56]byte
}

// callerTries is the number of places in which a value may be.
const callerTries = 4

// callerPlace is the hash of a value of asm.G.
func callerPlace(g uintptr) uintptr { return g>>6 ^ g>>12 }

// enter adds the caller to the set, until it calls leave of the result. Nested calls take a place each. It returns nil
// if all places are taken.
func (set *callerSet) enter() *caller {
	g := asm.G()
	for i := range uintptr(callerTries) {
		c := &set[(callerPlace(g)+i)%uintptr(len(set))]
		if c.g.Load() == 0 && c.g.CompareAndSwap(0, g) {
			return c
		}
	}
	return nil
}

func (cl *caller) leave() {
	if cl != nil {
		asm.StoreReleasePtr(&cl.g, 0)
	}
}

func (set *callerSet) has(g uintptr) bool {
	for i := range uintptr(callerTries) {
		if set[(callerPlace(g)+i)%uintptr(len(set))].g.Load() == g {
			return true
		}
	}
	return false
}
