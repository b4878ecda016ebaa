package nmad

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// upcalls are the calls of the user's functions that a gate owes. The thread that moves the gate on runs them without
// any lock, one after the other, in the order of the events. A call may lead to further ones, for instance because it
// starts a request that is done at once: these are added to the queue, so the stack does not grow.
type upcalls struct {
	mu      marcel.SpinLock // inside Gate.mu
	queue   []upcall
	next    int  // the first of queue that was not run
	running bool // a thread runs them, and will see what is added
}

// upcall is one call: of the monitors if there is no request, else of the request's
// own function.
type upcall struct {
	r     *Request
	event Event
}

func (u *upcalls) push(c upcall) {
	u.mu.Lock()
	if u.next == len(u.queue) {
		u.queue, u.next = u.queue[:0], 0
	}
	u.queue = append(u.queue, c)
	u.mu.Unlock()
}

// pop takes the next call; false: there is none, or another thread runs them. mine says
// that the caller is the one that runs them.
func (u *upcalls) pop(mine bool) (c upcall, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running && !mine {
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

// callUser runs the calls that are owed, unless a thread does already.
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
			switch r := c.r; {
			case r == nil:
				g.monitors.tell(c.event)
			case r.core.Stage == flow.Choosing:
				g.choose(r)
			default:
				f := r.rareOrNil().onDone
				r.completion.Signal(bitDone | bitReusable)
				f(r)
			}
		})
	}
}

// choose asks the owner of a receive whose message has come where to put it.
func (g *Gate) choose(r *Request) {
	tag, size := r.core.HeldMessage()
	r.core.Data.Set(r.rareOrNil().chooser(Envelope{g.rank, tag, size}))
	r.core.Op = flow.OpResume
	g.submit(r)
}

// InCallback says whether the caller runs inside a function that this package calls: Op.Done, Op.Choose, or a monitor's.
// There a thread must not wait: what it waits for may need the gate whose calls it keeps. A wait of this package that
// would have to sleep there fails with pioman.ErrInHandler. If very many threads run callbacks at once one of them may be
// overlooked. Some nanoseconds.
func InCallback() bool { return callers.has(asm.G()) }

// callers are the threads and goroutines that run callbacks: a set of the values of asm.G. Each stands in one of the few
// places behind the one that its value leads to; a place of its own line, which mostly no other one writes.
var callers callerSet

type callerSet [64]caller

type caller struct {
	g atomic.Uintptr // 0: free. The one that stands there writes it, and takes a free place by a compare-and-swap against others of its kind
	_ [56]byte
}

// callerTries is in how many places a thread may stand.
const callerTries = 4

func callerPlace(g uintptr) uintptr { return g>>6 ^ g>>12 }

// enter notes that the caller runs callbacks, until leave of what it returns. Of calls that are nested each has a place.
// nil: all places are taken.
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
