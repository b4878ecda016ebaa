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

func (rc *requestCase) done() bool { return (*Request)(rc).done() }

func (rc *requestCase) completed() pioman.CompletionCase {
	return rc.completion.Case(rc.gate.waitsIn(), finished)
}

// Try moves the gate on, once, if the request is not done.
func (rc *requestCase) Try() bool {
	if rc.done() {
		return true
	}
	(*Request)(rc).poll()
	return rc.done() || rc.completed().Try()
}

func (rc *requestCase) Poll() bool { return !rc.done() && rc.completed().Poll() }

// Enlist is for Select, which calls it on the waiting thread only.
func (rc *requestCase) Enlist(w *marcel.Waiter) bool {
	if rc.done() {
		return false
	}
	(*Request)(rc).listen()
	return !rc.done() && rc.completed().EnlistFor(w, (*Request)(rc).reason())
}

func (rc *requestCase) Withdraw(w *marcel.Waiter)   { rc.completed().Withdraw(w) }
func (rc *requestCase) Taken(w *marcel.Waiter) bool { return rc.completed().Taken(w) }
