package pioman

import (
	"fmt"

	"github.com/pm2-go/pm2/asm"
)

// Submit puts a task into its queue, where it is polled soon if requests are pending
// (Need), or if it is OneShot. It allocates nothing and never blocks; it is allowed
// inside handlers and hooks. ErrScheduled if the task is in a queue (a handler
// that wants to run again returns Again), ErrNotInitialised, ErrClosed.
func (e *Engine) Submit(t *Task) error {
	if err := e.claim(t); err != nil {
		return err
	}
	tr := e.tree.Load()
	e.put(t, tr.where(t), tr)
	return nil
}

// claim makes an inactive task the caller's to put into a queue.
func (e *Engine) claim(t *Task) error {
	if t == nil || t.fn == nil {
		return fmt.Errorf("submit: %w", ErrNotInitialised)
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
	e.tally(opt, 1) // before the push: the poller that ends the task takes it back
	q.tell(push)
	q.submitted.push(t) // from here on t may run, end, and be reused
	e.announce(q, opt)
	if q != e.root && e.tree.Load() != tr { // Attach may have looked before the push
		e.rehome(q)
	}
	if e.closed.Load() { // Close likewise
		e.reap()
	}
}

// announce sees to it that a poller comes for what was just put within its reach.
func (e *Engine) announce(q *Queue, opt Options) {
	if opt&Repeat == 0 && !q.mark.isSet() {
		e.Need() // before: the holder that clears the mark calls Done
		if !q.mark.set() {
			e.Done()
		}
		return
	}
	v := e.load.view()
	if opt&Repeat != 0 || v.asleep() { // the sleeper has not seen the task, if the queue was counted before
		v = e.load.posted()
	}
	if v.asleep() {
		e.wakePoller(v)
	}
}

// tally counts the tasks that keep idle processors, and waiters, from sleeping for long. The first one wakes a sleeper,
// which does not reckon with it: that marks itself asleep before it looks at the count.
func (e *Engine) tally(opt Options, n int32) {
	if opt&Blind != 0 && e.blind.Add(n) == n && e.load.view().asleep() {
		e.sleeper.wake()
	}
}

// Need announces that something is pending: until the matching Done, hooks poll, and idle virtual
// processors watch the sources. The caller decides what counts as one request: package nmad counts a
// gate with requests under way once, however many these are; a waiter that has parked counts itself
// (Completion.Wait). One atomic addition; the first request that a plain goroutine posts while every
// virtual processor sleeps also wakes one (a few microseconds). Allowed inside handlers and hooks.
func (e *Engine) Need() {
	if e.watch != nil {
		e.watch(nil, count)
	}
	if v := e.load.need(); v.remarkable() {
		e.wakePoller(v)
	}
}

// Done ends what Need began. One atomic addition.
func (e *Engine) Done() {
	if e.watch != nil {
		e.watch(nil, count)
	}
	if e.load.done().pending() == uint32(pendingMask) {
		e.load.undone()
		e.complain(fmt.Errorf("engine %s: %w", e.config.Name, ErrUnderflow))
	}
}

// admit is Need of a waiter that is going to sleep, or of a function, and dismiss its Done: idle VPs poll without a pause
// meanwhile.
func (e *Engine) admit() {
	e.waiters.Add(1)
	e.Need()
}

func (e *Engine) dismiss() {
	e.waiters.Add(-1)
	e.Done()
}

// Pending returns how many requests are pending: those needed, and one for each queue that has OneShot tasks to run. Of a
// queue that another thread holds it may be one too many.
func (e *Engine) Pending() int {
	e.settle(-1)
	return int(e.load.view().pending())
}

// wakePoller sees to it that a poller comes for what was just posted. A poster that carries a virtual processor of a
// hooked engine wakes no other one: that processor is awake, and its own hooks poll before it sleeps; the kick sees to it
// that its timer ticks. A goroutine wakes nothing either, where goroutines poll and the progressor watches: the poster
// mostly polls next; else it wakes the sleeper, or the progressor. An explicit engine wakes no poller: its waiters poll.
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
	switch vp := a.s.CurrentVP(); {
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
		a.s.Kick(vp)
	}
}
