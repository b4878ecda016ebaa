package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// Case returns the case of a marcel.Select that can be taken once the request is
// done. Then Wait says how it ended, at once. A request that was never started
// counts as done, and Wait says ErrIdle. Any number of Selects and Waits may wait for one
// request, as long as it is not started again. It allocates nothing.
func (r *Request) Case() marcel.Case {
	if r == nil {
		r = &Request{}
	}
	return (*requestCase)(r)
}

type requestCase Request

var _ marcel.Poller = (*requestCase)(nil)

func (r *requestCase) done() bool { return (*Request)(r).done() }

func (r *requestCase) completed() pioman.CompletionCase {
	return r.completion.Case(r.gate.waitsIn(), finished)
}

// Try moves the gate on, once, if the request is not done.
func (r *requestCase) Try() bool {
	if r.done() {
		return true
	}
	(*Request)(r).poll()
	return r.done() || r.completed().Try()
}

func (r *requestCase) Poll() bool { return !r.done() && r.completed().Poll() }

// Enlist is for Select, which calls it on the waiting thread only.
func (r *requestCase) Enlist(w *marcel.Waiter) bool {
	if r.done() {
		return false
	}
	(*Request)(r).listen()
	return !r.done() && r.completed().EnlistFor(w, (*Request)(r).reason())
}

func (r *requestCase) Withdraw(w *marcel.Waiter)   { r.completed().Withdraw(w) }
func (r *requestCase) Taken(w *marcel.Waiter) bool { return r.completed().Taken(w) }
