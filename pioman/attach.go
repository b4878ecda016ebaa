package pioman

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// Scheduler is what the engine needs of a scheduler; *sched.Scheduler is one.
//
// For no wake-up to be lost, and for progress while every processor computes, this
// is asked of it:
//
//   - CurrentVP is -1 on a thread that carries no virtual processor at the moment.
//   - Kick(-1) finds any virtual processor that nobody carries: one that sleeps, that
//     never had anything to do, whose thread is away in a blocking call. Of a
//     processor that is carried, Kick(vp) makes sure that its timer ticks.
//   - A processor that is about to sleep first lets Kick find it, then tries the
//     Sleeper (or fires its Idle hooks once more), and only then sleeps on its own.
//     One whose thread goes into a blocking call while the Idle hooks are
//     not Quiet is taken up by somebody else.
//   - When the Timer hook is not Quiet, nobody is idle, and nobody is in the Sleeper,
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
	e     *Engine
	s     Scheduler
	vps   []vpState
	hooks []*hooks.Hook
}

// vpState is what the hooks remember of one virtual processor.
type vpState struct {
	last   atomic.Int64  // asm.Cycles of the last poll at a hook; its LWP and the timer write
	rounds atomic.Uint32 // how many rounds, when there are several queues

	// The idle hook's alone, hence its LWP's.
	seen   view  // activity at its last look
	active int64 // asm.Cycles when something happened last

	_ [line - 32]byte
}

// never is when a virtual processor polled that has not polled yet; no difference
// from it overflows.
const never = math.MinInt64 / 2

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

// Attach hooks the engine to a scheduler: to its Idle, Switch and Timer hooks, and as
// its Sleeper. stop undoes it (again: without effect); requests may be pending
// at either moment, waiters change over. When stop returns no hook begins any
// more, and nothing of ours sleeps in the scheduler's threads. ErrAttached,
// ErrSchedulerTaken, ErrClosed; or the kernel's refusal of an epoll descriptor.
func (e *Engine) Attach(s Scheduler) (stop func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, ErrClosed)
	}
	if e.attached.Load() != nil {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, ErrAttached)
	}
	if !take(s, e) {
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, ErrSchedulerTaken)
	}
	if err := e.sleeper.hold(); err != nil {
		giveBack(s)
		return nil, fmt.Errorf("attach engine %s: %w", e.config.Name, err)
	}
	a := &attachment{e: e, s: s, vps: make([]vpState, s.NumVP())}
	for i := range a.vps {
		a.vps[i].last.Store(never)
	}
	e.attached.Store(a)
	if err := a.register(); err != nil {
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

func (a *attachment) register() error {
	for _, h := range []struct {
		point hooks.Point
		f     hooks.Func
	}{{hooks.Idle, a.idle}, {hooks.Switch, a.onSwitch}, {hooks.Timer, a.timer}} {
		hook, err := a.s.Hooks().RegisterWhile(h.point, hookPriority, a.e.config.Name, &a.e.load.w, uint64(pendingMask), h.f)
		if err != nil {
			return err
		}
		a.hooks = append(a.hooks, hook)
	}
	return nil
}

// detach undoes Attach; for the holder of e.mu. The order matters: first the engine is
// explicit, then the passive waiters are woken to see it (wait.go).
func (a *attachment) detach() {
	for _, h := range a.hooks {
		h.Unregister()
	}
	a.e.attached.Store(nil)
	a.s.SetSleeper(nil)
	a.e.sleeper.evict()
	a.e.parkers.wakeAll()
	a.e.sleeper.release()
	giveBack(a.s)
}

// idle polls on the LWP of a virtual processor with nothing to run. Busy for as long
// as something keeps happening; Waiting: it may sleep in the Sleeper.
func (a *attachment) idle(vp int) hooks.Verdict {
	before := a.e.load.view()
	if before.pending() == 0 || vp < 0 || vp >= len(a.vps) {
		return hooks.Quiet
	}
	s := &a.vps[vp]
	out := a.e.poll(vp)
	now := asm.Cycles()
	if activity := a.e.load.view().activity(); out == moved || activity != s.seen {
		s.seen, s.active = activity, now
	}
	if now-s.active < a.e.ticks.hot {
		return hooks.Busy
	}
	return hooks.Waiting
}

// onSwitch polls at a context switch, on the thread just switched to, at most once
// per switchPeriod: a poll may cost as much as ten switches.
func (a *attachment) onSwitch(vp int) hooks.Verdict {
	if a.e.load.view().pending() == 0 {
		return hooks.Quiet
	}
	return a.due(vp, a.e.ticks.switchPeriod)
}

// timer polls in the name of a virtual processor that is awake but may compute
// without ever coming by. If an idle one sleeps in the Sleeper since before the
// latest request, it takes a fresh look: it is better placed to poll from now on.
func (a *attachment) timer(vp int) hooks.Verdict {
	if a.e.load.view().pending() == 0 {
		return hooks.Quiet
	}
	verdict := a.due(vp, a.e.ticks.timerPeriod)
	if v := a.e.load.view(); v.asleep() && a.e.sleeper.outdated(v) {
		a.e.sleeper.wake()
	}
	return verdict
}

// due polls for a virtual processor unless it polled within period (in cycles).
func (a *attachment) due(vp int, period int64) hooks.Verdict {
	if vp < 0 || vp >= len(a.vps) {
		return hooks.Waiting
	}
	s := &a.vps[vp]
	now := asm.Cycles()
	if now-s.last.Load() < period {
		return hooks.Waiting
	}
	s.last.Store(now)
	if a.e.poll(vp) == moved {
		return hooks.Busy
	}
	return hooks.Waiting
}
