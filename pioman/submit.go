package pioman

import (
	"fmt"

	"github.com/pm2-go/pm2/asm"
)

// Submit puts a task into a queue: that of Task.SetCPUs, or the root's. Pollers poll it soon if requests are pending
// (AddPending), or if it is OneShot. Submit allocates nothing and never blocks; it is allowed inside handlers and
// hooks. Errors: ErrScheduled if the task is in a queue (a handler that wants to run again returns Again),
// ErrNoFunction, ErrClosed.
func (e *Engine) Submit(t *Task) error {
	if err := e.claim(t); err != nil {
		return err
	}
	tr := e.tree.Load()
	e.put(t, tr.where(t), tr)
	return nil
}

// claim claims an inactive task for its caller, which then puts it into a queue.
func (e *Engine) claim(t *Task) error {
	if t == nil || t.fn == nil {
		return fmt.Errorf("submit: %w", ErrNoFunction)
	}
	if e.closed.Load() {
		return fmt.Errorf("submit task %q: %w", t.name, ErrClosed)
	}
	if !t.state.schedule() {
		return fmt.Errorf("submit task %q: %w", t.name, ErrScheduled)
	}
	return nil
}

// put puts a claimed task into a queue: the root's, or one of tr.
func (e *Engine) put(t *Task, q *Queue, tr *taskTree) {
	if t.queue.Load() != q {
		t.queue.Store(q)
	}
	opt := t.opt
	e.countBlind(opt, 1) // before the push: the poller that ends the task takes it back
	q.tell(push)
	q.submitted.push(t) // from here on t may run, end, and be reused
	e.announce(q, opt)
	if q != e.root && e.tree.Load() != tr { // Attach may have emptied q before the push
		e.rehome(q)
	}
	if e.closed.Load() { // Close may have canceled all tasks before the push
		e.reap()
	}
}

// announce makes a poller come for a task that was just put into q.
func (e *Engine) announce(q *Queue, opt Options) {
	if opt&Repeat == 0 && !q.mark.isSet() {
		e.AddPending() // before set: a holder that clears the mark calls RemovePending
		if !q.mark.set() {
			e.RemovePending()
		}
		return
	}
	v := e.load.view()
	if opt&Repeat != 0 || v.asleep() { // the sleeper may have polled before the task was pushed
		v = e.load.posted()
	}
	if v.asleep() {
		e.wakePoller(v)
	}
}

// countBlind counts the Blind tasks: while there are some the sleeper sleeps for blindPeriod at most. The first one
// wakes a sleeper, which may have read the count before: it marks itself asleep before it reads the count.
func (e *Engine) countBlind(opt Options, n int32) {
	if opt&Blind != 0 && e.blind.Add(n) == n && e.load.view().asleep() {
		e.sleeper.wake()
	}
}

// AddPending announces that a request is pending: until the matching RemovePending, hooks poll, and idle VPs watch the
// sources. The caller decides what counts as one request: package nmad counts a gate with requests under way once,
// however many these are; a waiter that sleeps counts itself (Completion.Wait). AddPending is one atomic addition; the
// first request that a plain goroutine posts while all VPs sleep also wakes one (a few microseconds). It never blocks,
// and is allowed inside handlers and hooks.
func (e *Engine) AddPending() {
	if e.watch != nil {
		e.watch(nil, count)
	}
	if v := e.load.addPending(); v.remarkable() {
		e.wakePoller(v)
	}
}

// RemovePending announces that a request is not pending any more, once for each AddPending. It is one atomic addition,
// and allowed where AddPending is. A RemovePending without an AddPending changes nothing, and the engine reports it to
// the log package (ErrUnderflow).
func (e *Engine) RemovePending() {
	if e.watch != nil {
		e.watch(nil, count)
	}
	if e.load.removePending().pending() == uint32(pendingMask) {
		e.load.undoRemove()
		e.complain(fmt.Errorf("engine %s: %w", e.config.Name, ErrUnderflow))
	}
}

// admit is AddPending for a waiter that is going to sleep, or for a function of Then. Until dismiss idle VPs poll
// without a pause.
func (e *Engine) admit() {
	e.waiters.Add(1)
	e.AddPending()
}

// dismiss is the RemovePending of admit.
func (e *Engine) dismiss() {
	e.waiters.Add(-1)
	e.RemovePending()
}

// Pending returns how many requests are pending: those of AddPending, and one for each queue that has OneShot tasks to
// run. For each queue that another thread holds it may count one too many.
func (e *Engine) Pending() int {
	e.settle(-1)
	return int(e.load.view().pending())
}

// wakePoller makes a poller come for a request that was just posted; v is the load word after it. A poster that carries
// a VP of a hooked engine wakes no other thread: its VP is awake, and its own hooks poll before it sleeps; the kick
// makes its timer tick. A goroutine wakes the sleeper, or the progressor; but where goroutines poll and the progressor
// watches it wakes nothing, since the poster itself mostly polls next. Of an explicit engine wakePoller wakes no
// poller: its waiters poll.
func (e *Engine) wakePoller(v view) {
	if v.watched() {
		e.load.outdate()
	}
	a := e.attached.Load()
	if a == nil {
		return
	}
	if a.dedicated != nil {
		a.dedicated.wake()
		return
	}
	switch vp := a.scheduler.CurrentVP(); {
	case vp < 0 && v.asleep() && calls.GoroutinesPoll(asm.Cycles()) == 0:
		e.sleeper.wake()
	case vp < 0:
		a.progressor.wake()
		if a.progressor.state.Load() == blocking {
			e.sleeper.wake()
		}
	case v.asleep():
		a.wakeClock()
	default:
		a.scheduler.Kick(vp)
	}
}
