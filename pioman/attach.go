package pioman

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// Scheduler is what the engine needs of a scheduler; *sched.Scheduler is one.
//
// For no wake-up to be lost, and for progress while every processor computes, the engine relies on
// this:
//
//   - CurrentVP is -1 on a thread that carries no virtual processor at the moment.
//   - Kick(-1) finds any virtual processor that no OS thread carries: one that sleeps, that
//     never had anything to do, whose thread is away in a blocking call. Of a
//     processor that is carried, Kick(vp) makes sure that its timer ticks.
//   - A processor that is about to sleep first lets Kick find it, then tries the
//     Sleeper (or fires its Idle hooks once more), and only then sleeps on its own.
//     One whose thread goes into a blocking call while the Idle hooks are
//     not Quiet is taken up by another OS thread.
//   - When the Timer hook is not Quiet, no processor is idle, and no thread is in the Sleeper,
//     a processor that sleeps is woken.
type Scheduler interface {
	Hooks() *hooks.Set
	NumVP() int
	CurrentVP() int
	Kick(vp int)
	SetSleeper(sched.Sleeper)
	Shared() bool
}

// hookPriority leaves room on both sides.
const hookPriority = 50

// attachment is an engine hooked to a scheduler. It is made by Attach and dropped
// by stop; a hook in progress may use it a moment longer.
type attachment struct {
	e *Engine
	s Scheduler
	policy
	spare     progressor
	dedicated *progressor // nil: none
	after     func()      // nil, or what follows the end
}

// taken says which schedulers have an engine: SetSleeper has room for one.
var taken struct {
	sync.Mutex
	by map[Scheduler]*Engine
}

func take(s Scheduler, e *Engine) bool {
	taken.Lock()
	defer taken.Unlock()
	if taken.by[s] != nil {
		return false
	}
	if taken.by == nil {
		taken.by = map[Scheduler]*Engine{}
	}
	taken.by[s] = e
	return true
}

func giveBack(s Scheduler) {
	taken.Lock()
	defer taken.Unlock()
	delete(taken.by, s)
}

// Attach hooks the engine to a scheduler: it registers Idle, Switch, Timer and Library hooks, and
// becomes the Sleeper. stop undoes that; calling it again has no effect. Requests may be pending at
// either moment; waiters change over. When stop returns no hook begins any more, and the engine does
// not sleep in the scheduler's threads any more. ErrAttached, ErrSchedulerTaken, ErrClosed,
// ErrInHandler, ErrParameter; or the kernel's refusal of an epoll descriptor.
//
// With the parameter Progress off it only checks: the engine stays explicit.
func (e *Engine) Attach(s Scheduler) (stop func(), err error) { return e.attach(s, nil) }

// attach is Attach; after is called once the engine is unhooked again, be it by stop or by Close.
func (e *Engine) attach(s Scheduler, after func()) (stop func(), err error) {
	if e.inHandler() {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, ErrInHandler)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, ErrClosed)
	}
	if e.attached.Load() != nil {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, ErrAttached)
	}
	if e.paramErr != nil {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, e.paramErr)
	}
	if !e.params.Progress {
		if after != nil {
			after() // nothing was hooked
		}
		return func() {}, nil
	}
	if !take(s, e) {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, ErrSchedulerTaken)
	}
	if err := e.sleeper.hold(); err != nil {
		giveBack(s)
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, err)
	}
	a := &attachment{e: e, s: s, after: after}
	a.policy.init(s, &e.params)
	a.spare.init(a, -1, a.spare.blockForAll)
	if vp := e.params.Dedicated; vp >= 0 {
		if err := a.dedicate(vp); err != nil {
			e.sleeper.release()
			giveBack(s)
			return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, err)
		}
	}
	e.replant(s)
	e.attached.Store(a)
	if err := a.adjust(); err != nil {
		a.detach()
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, err)
	}
	s.SetSleeper(vpSleeper{e})
	if e.load.view().pending() != 0 {
		s.Kick(-1) // posted while the engine was explicit
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.attached.Load() == a {
			a.detach()
		}
	}, nil
}

// detach undoes Attach; for the holder of e.mu. The order matters: first the engine is
// explicit, then the passive waiters are woken to see it (wait.go).
func (a *attachment) detach() {
	for _, h := range a.hooks {
		h.Unregister() // nil: without effect
	}
	if a.dedicated != nil {
		a.dedicated.stop(func() {})
	}
	a.e.attached.Store(nil)
	a.s.SetSleeper(nil)
	a.spare.stop(a.e.sleeper.evict)
	a.e.sleeper.evict()
	parking.wakeAll(a.e)
	a.e.sleeper.release()
	giveBack(a.s)
	if a.after != nil {
		a.after()
	}
}
