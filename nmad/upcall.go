package nmad

import (
	"fmt"
	"runtime/debug"

	"github.com/pm2-go/pm2/marcel"
)

// upcalls are the calls of the user's functions that a gate owes. They are run without
// any lock, one after the other in the order in which what they tell happened, by
// whoever moves the gate on; a call that leads to further ones, for instance because it
// starts a request that is done at once, only adds to the queue, so the stack does not grow.
type upcalls struct {
	mu      marcel.SpinLock // inside Gate.mu
	queue   []upcall
	next    int  // the first of queue that was not run
	running bool // somebody runs them, and will see what is added
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

// pop takes the next call; false: there is none, or somebody else runs them. mine says
// that the caller is the one who runs them.
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

// upcall runs the calls that are owed, unless somebody does. Without mu.
func (g *Gate) upcall() {
	for c, ok := g.calls.pop(false); ok; c, ok = g.calls.pop(true) {
		guarded(func() {
			switch r := c.r; {
			case r == nil:
				g.watch.tell(c.event)
			case r.stage == choosing:
				g.choose(r)
			default:
				f := r.notify
				r.completion.Signal(finished | free)
				f(r)
			}
		})
	}
}

// guarded calls a function of the user's, which may panic, or end its goroutine. Where
// we are somebody would recover it, or wait for us for ever: so the program ends here,
// as it does for a goroutine that panics.
func guarded(f func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		why := recover()
		if why == nil {
			why = "runtime.Goexit was called"
		}
		text := fmt.Sprintf("nmad: a callback has not returned: %v\n%s", why, debug.Stack())
		crashed := make(chan struct{})
		go func() { panic(text) }()
		<-crashed // for ever
	}()
	f()
	returned = true
}

// choose asks the owner of a receive whose message has come where to put it.
func (g *Gate) choose(r *Request) {
	r.data.set(r.chooser(r.held.envelope(g)), nil)
	r.op = opResume
	g.begin(r)
}
