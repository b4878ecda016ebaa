package pioman

import (
	"slices"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// Poll runs one bounded round: it polls each task at most once, of the queues from the leaf of the caller's VP to the
// root; on a plain goroutine, of all queues. Handlers run on the caller's stack. Poll never waits: it skips a queue
// that another poller holds. It returns hooks.Busy if something happened in this round, else hooks.Waiting if something
// is pending, else hooks.Quiet. It takes about 20 ns, plus the handlers.
func (e *Engine) Poll() hooks.Verdict {
	if e.params.Points&AtExplicit != 0 {
		vp := e.here()
		if e.visit(vp, true) == roundMoved {
			return hooks.Busy
		}
		e.settle(vp)
	}
	if e.load.view().pending() == 0 {
		return hooks.Quiet
	}
	return hooks.Waiting
}

// Turn is the Handler of a task in another engine, by which the waiters of that engine poll e, too. It makes a round,
// as Poll does, whatever Params.Points are, and returns Moved if something happened, else Again, or Done while nothing
// is pending.
func (e *Engine) Turn(*Task) Status {
	vp := e.here()
	switch {
	case e.load.view().pending() == 0:
		return Done
	case e.visit(vp, true) == roundMoved:
		return Moved
	}
	e.settle(vp)
	return Again
}

// here returns the VP of the caller; -1: the caller is on none, or the engine has one queue only.
func (e *Engine) here() int {
	if a := e.attached.Load(); a != nil && len(e.tree.Load().ways) > 0 {
		return a.scheduler.CurrentVP()
	}
	return -1
}

// poll makes the round of a VP; vp < 0: that of a poller that is on none.
func (e *Engine) poll(vp int) roundOutcome { return e.visit(vp, false) }

// visit is poll. whole: it visits all queues from the leaf to the root, also those that are not due in this round. It
// then calls the functions of Then that are due.
func (e *Engine) visit(vp int, whole bool) roundOutcome {
	var out roundOutcome
	if tr := e.tree.Load(); uint(vp) < uint(len(tr.ways)) {
		out = tr.round(e, vp, whole)
	} else {
		out = tr.everywhere(e)
	}
	if e.dueCalls.head.Load() != 0 {
		out = max(out, e.callDue())
	}
	return out
}

// own makes a round of the leaf of a VP alone.
func (e *Engine) own(vp int) roundOutcome {
	way := e.tree.Load().way(vp)
	if way == nil {
		return roundEmpty
	}
	q := way[0].queue
	out := q.round(e.params.round)
	if out != roundMoved {
		q.settle()
	}
	return out
}

// inHandler reports whether the caller is a handler of this engine, or a function of Then.
func (e *Engine) inHandler() bool {
	g := asm.G()
	if e.dueCalls.holder.Load() == g {
		return true
	}
	for _, q := range e.queues() {
		if q.held(g) {
			return true
		}
	}
	return false
}

// tasks reports whether any queue has a task.
func (e *Engine) tasks() bool {
	return slices.ContainsFunc(e.queues(), func(q *Queue) bool { return q.length() != 0 || !q.submitted.empty() })
}

// queues lists all queues.
func (e *Engine) queues() []*Queue { return e.tree.Load().queues }

// settle settles the queues that a VP visits (vp < 0: all). See mark.
func (e *Engine) settle(vp int) {
	for _, n := range e.tree.Load().visits(vp) {
		n.queue.settle()
	}
}

// hasOneShots reports whether some queue has, or had until a moment ago, a OneShot task that is to be run.
func (e *Engine) hasOneShots() bool {
	return slices.ContainsFunc(e.queues(), func(q *Queue) bool { return q.mark.isSet() })
}
