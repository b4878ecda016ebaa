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
	SharedCPUs() bool
	Idle(vp int) (idle, awake bool) // whether a virtual processor has nothing to do, and whether it is awake then
	Queues() []*sched.Queue         // the tree that the engine's queues hang on, the same one each time; nil: no virtual processor is known
}

// hookPriority leaves room on both sides.
const hookPriority = 50

// attachedEngine is an engine hooked to a scheduler. It is made by Attach and dropped
// by stop; a hook in progress may use it a moment longer.
type attachedEngine struct {
	e *Engine
	s Scheduler
	pollPolicy
	progressor progressor  // the unbound one
	dedicated  *progressor // nil: none
	forOthers  *hooks.Hook // at the hooks of goroutines that poll
	users      *users
}

// users are those that have hooked an engine, and have not called their stop.
type users struct{ n int } // under e.mu

// taken has, by scheduler, the engine that is hooked to it: SetSleeper has room for one.
var taken sync.Map

// Attach hooks the engine to a scheduler: it registers a hook for each of Params.Points, and
// becomes the Sleeper. stop undoes that; calling it again has no effect. Requests may be pending at
// either moment; waiters change over. When stop returns no hook begins any more, and the engine does
// not sleep in the scheduler's threads any more.
//
// Libraries of one program may each Attach the engine to the same scheduler: the first one hooks it, the last of their
// stops unhooks it. To Attach it to another scheduler meanwhile fails with ErrAttached. The other errors are
// ErrSchedulerTaken, ErrClosed, ErrInHandler, ErrParameter, and the error of a kernel that refuses an epoll descriptor.
//
// A nil s stands for no scheduler: the progressor polls, and threads of a scheduler of the program's wait as goroutines
// do.
//
// With the parameter Progress off it only checks: the engine stays explicit.
func (e *Engine) Attach(s Scheduler) (stop func(), err error) {
	if s == nil {
		return e.share("attach", hasNone, e.none)
	}
	return e.share("attach", func(by Scheduler) bool { return by == s }, func() Scheduler { return s })
}

// share hooks the engine to what carrier returns, unless it is hooked to what same accepts.
func (e *Engine) share(what string, same func(Scheduler) bool, carrier func() Scheduler) (stop func(), err error) {
	if stop, err = e.hookOrJoin(same, carrier); err != nil {
		err = fmt.Errorf("%s engine %s: %w", what, e.config.Name, err)
	}
	return stop, err
}

// hookOrJoin is share with bare errors.
func (e *Engine) hookOrJoin(same func(Scheduler) bool, carrier func() Scheduler) (stop func(), err error) {
	if e.inHandler() {
		return nil, ErrInHandler
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return nil, ErrClosed
	}
	a := e.attached.Load()
	switch {
	case a != nil && !same(a.s):
		return nil, ErrAttached
	case a != nil:
		return e.use(a.users), nil
	case e.paramErr != nil:
		return nil, e.paramErr
	case !e.params.Progress:
		return func() {}, nil
	}
	u := &users{}
	if err := e.hook(carrier(), u); err != nil {
		return nil, err
	}
	return e.use(u), nil
}

// use counts one user more. Its stop counts once, and the last one's detaches. The caller holds e.mu.
func (e *Engine) use(u *users) (stop func()) {
	u.n++
	stopped := false
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		a := e.attached.Load()
		if stopped || a == nil || a.users != u { // Close has detached it
			return
		}
		stopped = true
		if u.n--; u.n == 0 {
			a.detach()
		}
	}
}

// hook hooks the engine to s, for the holder of e.mu. After an error it is as before.
func (e *Engine) hook(s Scheduler, u *users) (err error) {
	if _, other := taken.LoadOrStore(s, e); other {
		return ErrSchedulerTaken
	}
	a := &attachedEngine{e: e, s: s, users: u}
	a.pollPolicy.init(s, &e.params)
	a.progressor.init(a, -1, a.progressor.serve)
	if err = e.sleeper.open(); err == nil && e.params.Dedicated >= 0 {
		err = a.dedicate(e.params.Dedicated)
	}
	if err == nil {
		e.simulate(s)
		e.replant(s.Queues())
		e.attached.Store(a)
		err = a.register()
	}
	if err != nil {
		a.detach()
		return err
	}
	s.SetSleeper(vpSleeper{e})
	if e.load.view().pending() != 0 { // posted while the engine was explicit
		s.Kick(-1)
		if len(a.vps) == 0 {
			a.progressor.wake()
		}
	}
	return nil
}

// detach undoes Attach. The caller holds the engine's mu. The order matters: first the engine is explicit, then the
// passive waiters
// are woken to see it (wait.go).
func (a *attachedEngine) detach() {
	for _, h := range append(a.hooks[:], a.forOthers) {
		h.Unregister() // nil: without effect
	}
	if a.dedicated != nil {
		a.dedicated.stop(func() {})
	}
	a.e.attached.Store(nil)
	a.s.SetSleeper(nil)
	a.progressor.stop(a.e.sleeper.evict)
	a.e.sleeper.evict()
	parking.wakeAll(a.e)
	taken.Delete(a.s)
	enabled.Delete(a.e)
}
