package pioman

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Status is the result of a handler.
type Status uint8

const (
	// Again asks for another poll of a Repeat task; nothing happened in this one.
	Again Status = iota
	// Moved asks for another poll, too, and says that something happened: bytes were moved, a packet was handled.
	// Pollers then poll on for a little longer.
	Moved
	// Done ends the task.
	Done
)

// Options say how pollers run a task. They can be combined with |.
type Options uint8

const (
	// OneShot runs the handler once; its result is ignored. Until then the task counts as a pending request, so that a
	// poller comes to run it.
	OneShot Options = 0
	// Repeat polls the handler, once a round, until it returns Done. Such a task does not count as a pending request:
	// the object's owner calls AddPending.
	Repeat Options = 1
	// Blind says that no Source announces the events that this task waits for. While requests are pending and such a
	// task is in a queue, an idle process polls every millisecond instead of sleeping until the kernel wakes it.
	Blind Options = 2

	hasCPUs Options = 1 << 4 // the engine's own: the task has a CPU set
)

// Handler is the code of a task. It must not block: it holds its queue, and it may run inside a hook.
// It may submit and cancel other tasks, signal completions, AddPending and RemovePending.
type Handler = func(*Task) Status

// Task is an ltask (PIOMan, 2009): a piece of progress that pollers run. It is embedded in the structure of its owner,
// for instance in a request, and neither submitting nor running it allocates. It must not be copied. It is safe for
// concurrent use, except Init, SetCPUs and Notify: only the owner calls these, while the task is inactive (Notify also
// the handler).
type Task struct {
	// Submit and pollers use the first 56 bytes only, which leaves room for a Completion before them
	// in the same cache line: a task that goes from core to core takes one line along, or two if its owner
	// lays it across a boundary.
	next    *Task                 // in the submission list the pusher writes it, in the main list the holder
	queue   atomic.Pointer[Queue] // Submit writes it; Cancel reads it to find the holder
	fn      Handler
	notify  *Completion // of Notify; nil: none
	state   taskState
	bits    uint32 // of Notify
	roundNo uint32 // of the round that polled the task last; the holder uses it
	opt     Options

	name string
	cpus CPUSet
}

// Init prepares a task that is zero or inactive (State.Inactive). name, which reports show, should be a constant. Init
// of a task that is in a queue is a mistake: it changes nothing, and the engine reports it to the log package.
func (t *Task) Init(name string, fn Handler, opt Options) {
	if !t.state.inactive() {
		if q := t.queue.Load(); q != nil {
			q.engine.complain(fmt.Errorf("init task %q, which is %v: %w", t.name, t.State(), ErrScheduled))
		}
		return
	}
	t.state.Set(0)
	t.name, t.fn, t.opt = name, fn, opt&^hasCPUs
	t.notify, t.bits, t.cpus = nil, 0, CPUSet{}
}

// Notify makes the engine signal bits on c at the end of the task: after the handler has returned Done (a OneShot: any
// status), and after the last access of the engine to the task. So a task that is embedded in a request completes that
// request; a handler which signaled c itself would let the owner reuse the memory while the engine still uses it. A
// canceled task signals nothing. After a panic the signal includes Failed.
func (t *Task) Notify(c *Completion, bits uint32) { t.notify, t.bits = c, bits }

// SetCPUs asks pollers near the CPUs of set to poll the task: Submit puts it into the queue of the lowest topology item
// that covers them. This is a hint for locality: if no VP on these CPUs polls, another one polls the task (tree.go). An
// empty set stands for any CPU. The owner calls SetCPUs while the task is inactive.
func (t *Task) SetCPUs(set CPUSet) {
	if t.cpus, t.opt = set, t.opt&^hasCPUs; !set.Empty() {
		t.opt |= hasCPUs
	}
}

// Name returns the name that Init was given.
func (t *Task) Name() string { return t.name }

// State returns the state of the task. If that is not an inactive one it may have changed when State returns.
func (t *Task) State() State {
	return t.state.state()
}

// Cancel ends a task. If the task's handler runs Cancel waits for it, by spinning and yielding: on return no handler of
// this task runs, and its memory is the owner's. Cancel of an inactive task does nothing. State tells afterwards
// whether the task was canceled or had ended before (StateIdle). If it had ended, its Notify signal may still be under
// way: the owner waits for that before it reuses the completion.
//
// From inside the task's own handler Cancel returns ErrInHandler and changes nothing: the handler returns Done instead.
// Other handlers of the same engine may call it. It must not be called from a hook.
func (t *Task) Cancel() error {
	for i := 0; ; i++ {
		q := t.queue.Load()
		mine := q != nil && q.held(asm.G())
		if mine && q.current == t {
			return fmt.Errorf("cancel task %q: %w", t.name, ErrInHandler)
		}
		if !t.state.cancel() {
			return nil
		}
		switch {
		case q == nil: // Submit is between its claim and its push
		case mine:
			q.sweep()
		case q.enter():
			q.sweep()
			q.exit()
		default: // the holder drops the task when it comes to it, or leaves
		}
		if t.state.inactive() {
			return nil
		}
		relax(i, q != nil && q.engine.inHandler())
	}
}
