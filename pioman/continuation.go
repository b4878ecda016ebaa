package pioman

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/tasklet"
)

// Continuation is a function that runs once bits of a Completion are set, instead of a waiter. It is
// embedded in a request, initialised by one of the three Inits, which say where it runs, and attached
// to a completion by Then; it runs exactly once for each Then that was not cancelled. It must not be
// copied.
//
//	              Then                  a signaller has it in hand, and its bits are set
//	inactive ─────────▶ enlisted ───────────────────────────────▶ due
//	  ▲  │                 │ Cancel                                 │
//	  │  │                 ▼                                        │
//	  │  │             leaving ── off the list ──▶ inactive         │
//	  │  └── Then, and the bits are set already ───────────────────▶│
//	  └──────────────────── its function begins ────────────────────┘
//
// From the moment when its function begins the continuation is inactive: the function may attach it
// again. While it waits it counts as a pending request of its engine, and the completion must not be
// reused: it stands in the completion's list like a waiter. After it has left the list it does not use
// the completion any more.
//
// # Cost
//
// Then is a compare-and-swap on the list of free parkers and one on the completion; so is the way
// back. To attach and run an inline continuation costs about as much as two Signals, and allocates
// nothing; a tasklet adds its Schedule (about 80 ns), a thread its Spawn. Init of an inline one
// allocates nothing, the others a closure.
type Continuation struct {
	state  atomic.Uint32 // one of those below
	how    place
	status uint32        // when it became due; the taker writes it
	next   *Continuation // in the taker's list of those that are due
	e      *Engine
	name   string
	fn     func(*Continuation)

	// While it waits, for Cancel.
	on *Completion
	p  *parker

	run        func()          // how to run it elsewhere; made by Init
	spawn      func(func())    // inThread
	tasklet    tasklet.Tasklet // inTasklet
	hasTasklet bool            // tasklet was initialised
	task       Task            // runs it in the next round, when there is no budget
}

// place says where a continuation runs.
type place uint8

const (
	nowhere place = iota // not initialised
	inline
	inTasklet
	inThread
)

// The states of a continuation.
const (
	inactive uint32 = iota
	joining         // Then makes it ready
	enlisted        // it is in the list, or about to be
	leaving
	due
)

// Init prepares a continuation that runs inline: inside the Signal that sets its bits, after
// the waiters were woken, on the signaller's stack, be that a handler, a hook, or a thread. It
// must be as short as a handler, and must not block: waiting inside gives ErrInHandler. There is
// a budget for each stack, of depth (a continuation that signals runs others inside
// itself) and of time (inlineDepth, inlineTime); what is beyond runs in the next poll round of e as a
// task, or in Close. e also counts it as pending; nil: Default. name, which reports show, should be a constant.
//
// fn gets the continuation; it is the last that uses it, so it may be reused at once. A panic
// or runtime.Goexit in fn is reported like that of a handler and does no further harm.
// Every Init is for an inactive continuation; of any other it is reported and changes nothing.
func (k *Continuation) Init(e *Engine, name string, fn func(*Continuation)) {
	k.init(inline, e, name, fn)
}

// InitTasklet prepares a continuation that runs as a tasklet of v, on the signaller's virtual
// processor or one that is woken, between threads. It must not block either. If v is detached by then
// it runs in the next poll round of e. Unlike the others, fn must not free or overwrite it, only
// attach it again: the tasklet is still in its run.
func (k *Continuation) InitTasklet(v *tasklet.Vector, e *Engine, name string, fn func(*Continuation)) error {
	if !k.init(inTasklet, e, name, fn) {
		return fmt.Errorf("init continuation %q: %w", name, ErrContinuing)
	}
	if k.hasTasklet {
		k.tasklet.Kill()
	}
	if err := k.tasklet.Init(v, k.run); err != nil {
		k.how = nowhere
		return fmt.Errorf("init continuation %q: %w", name, err)
	}
	k.hasTasklet = true
	return nil
}

// InitThread prepares a continuation that runs in a thread of its own, where it may block. spawn
// starts it and is called by the signaller, so it must not block; nil: marcel.Spawn. func(f func()) {
// go f() } makes it a goroutine.
func (k *Continuation) InitThread(spawn func(func()), e *Engine, name string, fn func(*Continuation)) {
	if spawn == nil {
		spawn = spawnThread
	}
	if k.init(inThread, e, name, fn) {
		k.spawn = spawn
	}
}

func (k *Continuation) init(how place, e *Engine, name string, fn func(*Continuation)) bool {
	if e == nil {
		e = Default()
	}
	if k.state.Load() != inactive {
		e.complain(fmt.Errorf("init continuation %q: %w", k.name, ErrContinuing))
		return false
	}
	k.how, k.e, k.name, k.fn = how, e, name, fn
	if how != inline && k.run == nil {
		k.run = k.call
	}
	return true
}

// Status returns the status of the completion at the moment when the continuation became
// due; Failed is in it if a task panicked.
func (k *Continuation) Status() uint32 { return k.status }

// Then runs k once any of bits is set. If one is set already k runs at once; an inline k runs before
// Then returns. The errors: ErrContinuing if k waits or is due, ErrNotInitialised, ErrNoBits.
func (c *Completion) Then(k *Continuation, bits uint32) error { return c.then(k, want{bits: bits}) }

// ThenAll runs k once all of bits are set.
func (c *Completion) ThenAll(k *Continuation, bits uint32) error { return c.then(k, want{bits, true}) }

func (c *Completion) then(k *Continuation, n want) error {
	switch {
	case k.how == nowhere || k.fn == nil:
		return fmt.Errorf("then: continuation: %w", ErrNotInitialised)
	case n.bits == 0:
		return fmt.Errorf("then: continuation %q: %w", k.name, ErrNoBits)
	case !k.state.CompareAndSwap(inactive, joining):
		return fmt.Errorf("then: continuation %q: %w", k.name, ErrContinuing)
	}
	p := parking.get(k.e)
	p.cont, k.p, k.on = k, p, c
	p.want = n
	p.listed.Store(true)
	k.e.Need()
	k.state.Store(enlisted) // from here on it may be cancelled
	if c.push(p) {
		return nil // and nothing of k is touched: it may have run by now
	}
	if k := p.fire(nil, c.Status()); k != nil {
		runDue(k)
	}
	return nil
}

// Cancel takes the continuation off its completion. It returns true if the continuation will not run.
// It returns false if the continuation is inactive, or is due, so that it runs or is about to; Cancel
// does not wait for that. It must not be called at the same time as Then.
func (k *Continuation) Cancel() bool {
	if !k.state.CompareAndSwap(enlisted, leaving) { // pairs with fire's
		return false
	}
	p, e := k.p, k.e
	k.on.withdraw(p)
	p.cont = nil
	parking.put(p)
	k.state.Store(inactive)
	e.Done()
	return true
}

// fire takes a continuation whose bits are set off its parker, and puts it before those that are due.
// For the caller that holds p.
func (p *parker) fire(former *Continuation, status uint32) *Continuation {
	k := p.cont
	if !k.state.CompareAndSwap(enlisted, due) {
		p.listed.Store(false) // its canceller waits for that
		return former
	}
	p.cont = nil
	p.listed.Store(false)
	parking.put(p)
	k.status, k.next = status, former
	return k
}

// runDue runs those that are due, wherever they want: the inline ones here, as long as the
// budget of this stack lasts.
func runDue(k *Continuation) {
	var s *stack // once there is an inline one
	defer func() {
		s.leave()
		for k != nil { // one of them has called runtime.Goexit: the others run in the next round
			next := k.next
			k.e.Done()
			k.later()
			k = next
		}
	}()
	for k != nil {
		now := k
		k, now.next = now.next, nil
		now.e.Done()
		switch {
		case now.how == inThread:
			now.spawn(now.run)
		case now.how == inTasklet:
			if !now.tasklet.Schedule() {
				now.later()
			}
		case s == nil:
			if s = enterStack(now.e); s == nil {
				now.later()
				continue
			}
			now.invoke()
		case asm.Cycles() < s.until:
			now.invoke()
		default:
			now.later()
		}
	}
}

// later has the next poll round run k, or, the engine being closed, runs it now.
func (k *Continuation) later() {
	k.task.Init(k.name, laterHandler, OneShot|Destroy|NoWait|continues)
	if err := k.e.Submit(&k.task); err != nil {
		k.call()
	}
}

// takeOrphans returns the continuations whose tasks Close has dropped. For the holder.
func (q *Queue) takeOrphans() *Continuation {
	k := q.orphans
	q.orphans = nil
	return k
}

// runOrphans runs them.
func runOrphans(k *Continuation) {
	for k != nil {
		now := k
		k, now.next = now.next, nil
		now.call()
	}
}

func laterHandler(t *Task) Status {
	k := continuationOf(t)
	fn := k.fn
	k.state.Store(inactive)
	fn(k)
	return Done
}

// call runs the function on a thread of its own, as a tasklet, or in Close; unless
// it has a thread, its stack is noted as one on which waiting is an error.
func (k *Continuation) call() {
	var s *stack
	if k.how != inThread {
		s = claimStack(k.e)
	}
	defer s.leave()
	k.invoke()
}

// invoke runs the function, whatever becomes of it.
func (k *Continuation) invoke() {
	e, name, fn := k.e, k.name, k.fn
	returned := false
	defer func() {
		if !returned {
			p := &PanicError{Task: name, Value: recover()}
			p.Stack = debug.Stack()
			e.panicked(p)
		}
	}()
	k.state.Store(inactive) // from here on it is fn's
	fn(k)
	returned = true
}
