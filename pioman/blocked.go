package pioman

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// SetBlocking gives a Repeat task a second function, which waits in the kernel for what the handler
// polls for (PIOMan, 2009). Once the handler has returned Again, and never Moved, for the time delay,
// the engine moves the task out of its queue to a goroutine of its own, which calls block and blocks
// an OS thread of Go's meanwhile. When that returns the task goes back into its queue and is polled
// again. Meanwhile its state is Blocked.
//
//	          Again for delay              block returns
//	Running ───────────────────▶ Blocked ───────────────────▶ Scheduled
//	                                │ Cancel                      Cancelled
//	                                ▼                                ▲
//	                            Cancelling ── block returns ─────────┘
//
// Cancel, Mask and Close wait for block as they wait for a handler: a program that wants them to be quick
// makes block return (by an eventfd in its poll(2), for instance), or gives it a time limit. block must
// not Wait for completions, and Cancel from inside it gives ErrInHandler. If it panics the task ends as
// if its handler had. Moving costs a goroutine and its allocation, a few microseconds
// there and as many back; a delay below 100 us is a mistake.
//
// The owner calls SetBlocking while the task is inactive; with a nil block the task never moves. The
// error is ErrBlocking unless the task is a Repeat one without Destroy, after Init, and delay is not
// negative.
func (t *Task) SetBlocking(block func(*Task), delay time.Duration) error {
	if t.opt&(Repeat|Destroy) != Repeat || !t.state.load().Inactive() || delay < 0 {
		return fmt.Errorf("set blocking function of task %q: %w", t.name, ErrBlocking)
	}
	t.block, t.delay = block, asm.ToCycles(int64(delay))
	if t.opt &^= hasBlock; block != nil {
		t.opt |= hasBlock
	}
	return nil
}

// elsewhere stands for the goroutine that calls a blocking function, before that is known.
const elsewhere = 1

// offload moves the head of the list, which has been polled, to a goroutine of its own if it is due. For the holder.
func (q *Queue) offload(t *Task, status Status) bool {
	now := asm.Cycles()
	if status == Moved || t.since == 0 {
		t.since = now
		return false
	}
	if now-t.since < t.delay || q.engine.closed.Load() || t.masks.on() || !t.state.block() {
		return false
	}
	q.removeHead()
	t.runner.Store(elsewhere) // before the queue is free: Mask and Cancel look there then
	q.engine.away.Add(1)
	go q.engine.blockFor(t)
	return true
}

// blockFor is that goroutine's.
func (e *Engine) blockFor(t *Task) {
	s := claimStack(e) // where one must not wait
	t.runner.Store(asm.G())
	returned := false
	defer func() {
		var p *PanicError
		if !returned {
			p = &PanicError{Task: t.name, Value: recover()}
			p.Stack = debug.Stack()
		}
		s.leave()
		e.comeBack(t, p)
	}()
	t.block(t)
	returned = true
}

// comeBack ends what offload began.
func (e *Engine) comeBack(t *Task, p *PanicError) {
	q, opt := t.queue.Load(), t.opt
	t.since = 0
	t.runner.Store(0)
	switch {
	case p != nil:
		q.end(t, Failed)
		e.panicked(p)
	case e.closed.Load() || !t.state.unblock():
		q.drop(t)
	default:
		e.enqueue(t)     // from here on it may run, end, and be reused
		e.tally(opt, -1) // it was counted all the time
	}
	e.away.Add(-1) // Close waits for that
}
