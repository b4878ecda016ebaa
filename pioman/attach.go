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
	users     int         // those that have not called their stop; under e.mu
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
// not sleep in the scheduler's threads any more.
//
// Libraries of one program may each Attach the engine to the same scheduler: the first one hooks it,
// the last of their stops unhooks it. To another scheduler: ErrAttached. The other errors are
// ErrSchedulerTaken, ErrClosed, ErrInHandler, ErrParameter; or the kernel's refusal of an epoll
// descriptor.
//
// With the parameter Progress off it only checks: the engine stays explicit.
func (e *Engine) Attach(s Scheduler) (stop func(), err error) {
	return e.attach(func(by Scheduler) bool { return by == s }, func() (Scheduler, func(), error) { return s, nil, nil })
}

// attach is Attach to what start makes, unless the engine is attached to what same accepts. after is
// called once the engine is unhooked again, be it by stop or by Close.
func (e *Engine) attach(same func(Scheduler) bool, start func() (s Scheduler, after func(), err error)) (stop func(), err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("attach engine %s: %w", e.config.Name, err)
		}
	}()
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
		return a.use(), nil
	case e.paramErr != nil:
		return nil, e.paramErr
	case !e.params.Progress:
		return func() {}, nil
	}
	s, after, err := start()
	if err != nil {
		return nil, err
	}
	if a, err = e.hook(s); err != nil {
		if after != nil {
			after()
		}
		return nil, err
	}
	a.after = after
	return a.use(), nil
}

// use counts one user more. Its stop counts once, and the last one's detaches. For the holder of e.mu.
func (a *attachment) use() (stop func()) {
	a.users++
	stopped := false
	return func() {
		a.e.mu.Lock()
		defer a.e.mu.Unlock()
		if stopped || a.e.attached.Load() != a { // Close has detached it
			return
		}
		stopped = true
		if a.users--; a.users == 0 {
			a.detach()
		}
	}
}

// hook hooks the engine to s, for the holder of e.mu. After an error it is as before.
func (e *Engine) hook(s Scheduler) (*attachment, error) {
	if !take(s, e) {
		return nil, ErrSchedulerTaken
	}
	if err := e.sleeper.hold(); err != nil {
		giveBack(s)
		return nil, err
	}
	a := &attachment{e: e, s: s}
	a.policy.init(s, &e.params)
	a.spare.init(a, -1, a.spare.blockForAll)
	if vp := e.params.Dedicated; vp >= 0 {
		if err := a.dedicate(vp); err != nil {
			e.sleeper.release()
			giveBack(s)
			return nil, err
		}
	}
	e.simulate(s)
	e.replant(s)
	e.attached.Store(a)
	if err := a.adjust(); err != nil {
		a.detach()
		return nil, err
	}
	s.SetSleeper(vpSleeper{e})
	if e.load.view().pending() != 0 {
		s.Kick(-1) // posted while the engine was explicit
	}
	return a, nil
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
