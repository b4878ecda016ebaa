package pioman

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// Scheduler is what the engine needs of a scheduler; *sched.Scheduler is one.
//
// The engine loses no wake-up, and makes progress while every VP computes, because a Scheduler guarantees this:
//
//   - CurrentVP is -1 on a thread that carries no VP at the moment.
//   - Kick(-1) finds any VP that no OS thread carries: one that sleeps, one that
//     never had anything to do, one whose thread is away in a blocking call. Of a
//     VP that is carried, Kick(vp) makes sure that its timer ticks.
//   - A VP that is about to sleep first lets Kick find it, then tries the
//     Sleeper (or fires its Idle hooks once more), and only then sleeps on its own.
//     If its thread goes into a blocking call while the Idle hooks are
//     not Quiet, another OS thread takes the VP up.
//   - When the Timer hook is not Quiet, no VP is idle, and no thread is in the Sleeper,
//     it wakes a VP that sleeps.
type Scheduler interface {
	Hooks() *hooks.Set
	NumVP() int                     // VPs, numbered from 0
	CurrentVP() int                 // of the calling thread
	Kick(vp int)                    // see above
	SetSleeper(sched.Sleeper)       // nil: takes it away
	SharedCPUs() bool               // pollers should give the CPU away between polls
	Idle(vp int) (idle, awake bool) // whether a VP has nothing to do, and whether it is awake then
	Queues() []*sched.Queue         // the tree that the engine's queues hang on, the same one each time; nil: no VP is known
}

// hookPriority leaves room for hooks of others before and behind the engine's.
const hookPriority = 50

// attachedEngine is an engine hooked to a scheduler. Attach makes it and stop drops it; a hook in progress may use it a
// moment longer. Its fields but those of pollPolicy and the progressors do not change.
type attachedEngine struct {
	engine    *Engine
	scheduler Scheduler
	pollPolicy
	progressor    progressor  // the unbound one
	dedicated     *progressor // nil: none
	goroutineHook *hooks.Hook // fired by goroutines that poll for something of their own: forAll
	users         *users
}

// users counts the calls of Attach and Enable that have hooked an engine, and whose stop was not called. e.mu guards
// it.
type users struct{ count int }

// hookedSchedulers has, by scheduler, the engine that is hooked to it: a scheduler has one Sleeper.
var hookedSchedulers sync.Map

// Attach hooks the engine to a scheduler: it registers a hook for each of Params.Points, and
// becomes the Sleeper. stop undoes that; calling it again has no effect. Requests may be pending at
// either moment: waiters begin and cease to leave the polling to hooks. When stop returns no hook begins any more, and
// the engine does not sleep in the scheduler's threads any more.
//
// Libraries of one program may each Attach the engine to the same scheduler: the first one hooks it, the last of their
// stops unhooks it. To Attach it to another scheduler meanwhile fails with ErrAttached. The other errors are
// ErrSchedulerTaken, ErrClosed, ErrInHandler, ErrParameter, and the error of a kernel that refuses an epoll descriptor.
//
// A nil s stands for no scheduler: the progressor polls, and threads of any scheduler wait as goroutines do.
//
// With the parameter Progress off Attach only checks for errors: the engine stays explicit.
func (e *Engine) Attach(s Scheduler) (stop func(), err error) {
	if s == nil {
		return e.share("attach", hasNone, e.none)
	}
	return e.share("attach", func(by Scheduler) bool { return by == s }, func() Scheduler { return s })
}

// share hooks the engine to the scheduler that carrier returns, or, if it is hooked to one that same accepts, counts
// one user more. Errors name what was done.
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
	case a != nil && !same(a.scheduler):
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

// use counts one user more, and returns its stop; that of the last user unhooks the engine. The caller holds e.mu.
func (e *Engine) use(u *users) (stop func()) {
	u.count++
	stopped := false
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		a := e.attached.Load()
		if stopped || a == nil || a.users != u { // called again, or Close has unhooked the engine
			return
		}
		stopped = true
		if u.count--; u.count == 0 {
			a.detach()
		}
	}
}

// hook hooks the engine to s. After an error the engine is as before. The caller holds e.mu.
func (e *Engine) hook(s Scheduler, u *users) (err error) {
	if _, other := hookedSchedulers.LoadOrStore(s, e); other {
		return ErrSchedulerTaken
	}
	a := &attachedEngine{engine: e, scheduler: s, users: u}
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

// detach undoes hook. The caller holds the engine's mu. First it makes the engine explicit, then it wakes the waiters
// that sleep on their parkers, so that they see that (wait.go).
func (a *attachedEngine) detach() {
	for _, h := range append(a.hooks[:], a.goroutineHook) {
		h.Unregister() // nil: without effect
	}
	if a.dedicated != nil {
		a.dedicated.stop(func() {})
	}
	a.engine.attached.Store(nil)
	a.scheduler.SetSleeper(nil)
	a.progressor.stop(a.engine.sleeper.evict)
	a.engine.sleeper.evict()
	parking.wakeAll(a.engine)
	hookedSchedulers.Delete(a.scheduler)
	enabledEngines.Delete(a.engine)
}
