package pioman

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Status is what a handler returns.
type Status uint8

const (
	// Again asks for another poll of a Repeat task; nothing happened in this one.
	Again Status = iota
	// Moved asks for another poll too and says that something happened: bytes
	// moved, a packet was handled. Pollers then stay awake a little longer.
	Moved
	// Done ends the task.
	Done
)

// Options say how a task is run. They can be combined with |.
type Options uint8

const (
	// OneShot runs the handler once; what it returns does not matter. While it
	// waits it counts as a pending request, so that a poller comes to run it.
	OneShot Options = 0
	// Repeat polls the handler, once a round, until it returns Done. It does not
	// count as a pending request: Need does.
	Repeat Options = 1
	// Blind says that no Source announces what this task waits for. While
	// requests are pending and such a task exists, an idle process looks
	// every millisecond instead of sleeping until the kernel wakes it.
	Blind Options = 2

	// The engine's own.
	hasCPUs Options = 1 << 4 // it has a CPU set
)

// Handler is the code of a task. It must not block: it holds its queue, and it may run inside a hook.
// It may submit and cancel other tasks, signal completions, Need and Done.
type Handler = func(*Task) Status

// Task is an ltask (PIOMan, 2009): a piece of progress that pollers run. It is embedded in the
// structure of its owner, for instance in a request, and neither submitting nor running it allocates.
// It must not be copied. It is safe for concurrent use, Init, SetCPUs and Notify excepted: those are
// for the owner while the task is inactive (Notify also for the handler).
type Task struct {
	// What submitting and polling touch is in the first 56 bytes, which leaves room for a completion before them
	// in the same line: a task that goes from core to core takes one line along, or two if its owner
	// has it lie across them.
	next    *Task                 // in the submission list: the pusher's; in the main list: the holder's
	queue   atomic.Pointer[Queue] // written by Submit; read by Cancel to find the holder
	fn      Handler
	notify  *Completion
	state   taskState
	bits    uint32
	roundNo uint32 // holder's: the round that polled it last
	opt     Options

	name string
	cpus CPUSet
}

// Init prepares a task that is blank or inactive (State.Inactive). name, which reports show, should be
// a constant. Init of a task that is in a queue is a mistake: it changes
// nothing, and the engine reports it to its error log.
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

// Notify makes the end of the task signal bits on c: after the handler has
// returned Done (a OneShot: anything) and the engine has forgotten the task.
// It is how a task that is embedded in a request completes that request:
// a handler which signalled c itself would let the owner reuse the memory while
// the engine still needs it. A cancelled task signals nothing. After a panic
// the signal includes Failed.
func (t *Task) Notify(c *Completion, bits uint32) { t.notify, t.bits = c, bits }

// SetCPUs asks that the task be polled near the processors of set: by the queue of the lowest topology
// item that covers them. This is a hint for locality: if none of these processors polls, another one
// polls the task (tree.go). An empty set stands for any processor. The owner calls SetCPUs while the
// task is inactive.
func (t *Task) SetCPUs(set CPUSet) {
	if t.cpus, t.opt = set, t.opt&^hasCPUs; !set.Empty() {
		t.opt |= hasCPUs
	}
}

// Name returns the name that Init was given.
func (t *Task) Name() string { return t.name }

// State returns the state of the task. Unless it is inactive it may have changed by now.
func (t *Task) State() State {
	return t.state.state()
}

// Cancel ends a task. It waits for the task's handler if that runs: on
// return no handler of this task runs, and its memory is the owner's. Cancel of
// an inactive task does nothing. State tells afterwards whether the task
// was cancelled or had ended before (StateIdle). If it had ended, its Notify signal
// may still be under way: Wait for it before reusing the completion.
//
// From inside the task's own handler it returns ErrInHandler and changes nothing:
// return Done there. From inside another handler of the same engine it works.
// It must not be called from a hook.
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
		default: // its holder will meet the task, or leave
		}
		if t.state.inactive() {
			return nil
		}
		relax(i, q != nil && q.engine.inHandler())
	}
}
