package pioman

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
)

// The polling policy: which VP polls at which point, when, and how often. Three questions:
//
// Is anything pending? If not, every hook returns after one load.
//
// Does a sleeper block in the kernel for all (the load word's asleep)? Then the kernel announces arrivals, and a
// computing thread need not poll: the load word is watched, the scheduler does not call the switch and library hooks,
// the timer hook returns at once, and the clock of the scheduler may sleep. A post meanwhile ends that state: hooks
// poll again, and the next tick of the timer makes the sleeper look again.
//
// Which idle VPs poll? One per package, the one that was idle there first; when it gets work the next idle one takes
// its place. For experiments all of them poll (Params.AllIdle). The hooks of the others are Quiet, and they sleep.
//
//	VPs            something pending                                   poller
//	some idle      since less than the window                          an idle one, every IdleGap, or continuously while a waiter sleeps
//	some idle      for longer                                          none: an idle one blocks in the kernel
//	all compute    since less than the BlockingDelay                   each of them, at switches; the scheduler's clock, at its ticks
//	all compute    for longer                                          none: the progressor (progressor.go) blocks
//	one dedicated  always                                              that one (progressor.go)

// vpState is the state of one VP for the hooks.
type vpState struct {
	lastPoll pollStamp // of the last poll at a hook, or by a waiter; its LWP and the timer write

	lastIdlePoll pollStamp      // of its last poll by the idle hook; never: it is not idle, or went to sleep; its LWP writes, others read
	pollerG      atomic.Uintptr // asm.G of the LWP's goroutine that made the last idle poll; its LWP writes, others read
	ranThreads   atomic.Bool    // it has run threads since it was idle; the switch hook, which is not called while a sleeper watches, sets it, the idle hook clears it

	polls atomic.Uintptr // rounds at hooks
	finds atomic.Uintptr // rounds of these in which something happened

	// Only the idle hook uses these, on the LWP of the VP.
	seenActivity view  // activity at its last look
	activeAt     int64 // asm.Cycles when something happened last, or when it became idle

	_ [line - 64]byte
}

// The indices of the points in pointNames.
const (
	idlePoint = iota
	switchPoint
	timerPoint
	libraryPoint
)

const (
	// never is the stamp of a VP that has not polled yet. No difference from it overflows.
	never = math.MinInt64 / 2

	// lapse is the time, in ns, for which an idle VP still counts as polling after its last poll: longer than
	// most rounds take.
	lapse = 50_000
)

// pollPolicy decides which VP polls when: it has the state of each VP, and the hooks.
type pollPolicy struct {
	vps      []vpState
	packages []*claim // by VP; nil: all poll when they are idle
	lapse    int64    // cycles
	hooks    [len(hookPoints)]*hooks.Hook

	_           [line]byte
	clockSleeps atomic.Int32 // 1 + the VP whose timer hook was Quiet because a sleeper is in the kernel, so that the clock may sleep; 0: none
	_           [line - 4]byte

	// The timer hook writes these; the clock fires it, or a thread that polls.
	timerSeenActivity atomic.Uint64 // activity at its last look
	movedAt           atomic.Int64  // asm.Cycles when activity changed, or a poll found something; hooks write it, too
}

// claim is the right to poll for the idle VPs of one package.
type claim struct {
	owner  atomic.Int64 // 1 + the VP that has it; a VP that finds it unused for lapse takes it by a compare-and-swap
	usedAt atomic.Int64 // asm.Cycles when its VP used it last
	_      [line - 16]byte
}

// init sets up the policy for the VPs of s.
func (y *pollPolicy) init(s Scheduler, params *Params) {
	y.vps = make([]vpState, s.NumVP())
	for i := range y.vps {
		y.vps[i].lastPoll.set(never)
		y.vps[i].lastIdlePoll.clear()
	}
	y.lapse = asm.ToCycles(lapse)
	y.movedAt.Store(asm.Cycles())
	y.packages = claims(s, params.AllIdle)
}

// claims returns, by VP, the right to poll for the idle VPs of its package; nil: each VP polls. The VPs whose package
// is unknown share one.
func claims(s Scheduler, all bool) (list []*claim) {
	if all || s.NumVP() == 0 {
		return nil
	}
	of := map[*topo.Item]*claim{}
	for _, pu := range s.Queues()[0].VPs() {
		var pkg *topo.Item
		if pu != nil {
			pkg = pu.Ancestor(topo.Package)
		}
		if of[pkg] == nil {
			of[pkg] = &claim{}
			of[pkg].usedAt.Store(never)
		}
		list = append(list, of[pkg])
	}
	return list
}

// mayPoll reports whether it is VP vp's turn to poll, being idle.
func (y *pollPolicy) mayPoll(vp int, now int64) bool {
	if y.packages == nil {
		return true
	}
	c, me := y.packages[vp], int64(vp)+1
	at, by := c.usedAt.Load(), c.owner.Load()
	if by != me {
		if now-at < y.lapse || !c.owner.CompareAndSwap(by, me) {
			return false
		}
	}
	if by != me || now-at > y.lapse/8 { // not at every poll: others look at this line
		c.usedAt.Store(now)
	}
	return true
}

// othersPoll removes the caller, an LWP's goroutine that is about to sleep, from the pollers, and reports whether
// another idle VP still polls, so that the caller need not block in the kernel. Each caller removes itself before it
// looks: of two, one sees that it is the last.
func (y *pollPolicy) othersPoll() bool {
	g := asm.G()
	for i := range y.vps {
		if v := &y.vps[i]; v.pollerG.Load() == g {
			v.lastIdlePoll.clear()
			if y.packages != nil && y.packages[i].owner.CompareAndSwap(int64(i)+1, 0) {
				y.packages[i].usedAt.Store(never)
			}
		}
	}
	return y.idlers(asm.Cycles())
}

// idlers reports whether an idle VP polls.
func (y *pollPolicy) idlers(now int64) bool {
	for i := range y.vps {
		if now-y.vps[i].lastIdlePoll.get() < y.lapse {
			return true
		}
	}
	return false
}

// register registers a hook for each point in use, and one that goroutines fire while they poll. The caller holds the
// engine's mu.
func (a *attachedEngine) register() (err error) {
	for i, f := range [len(hookPoints)]hooks.Func{a.idle, a.onSwitch, a.timer, a.library} {
		if a.engine.params.Points&(1<<i) == 0 || a.dedicated != nil {
			continue
		}
		mask := pendingMask
		if i == switchPoint || i == libraryPoint {
			mask |= watchedBit
		}
		if a.hooks[i], err = a.scheduler.Hooks().RegisterWithin(hookPoints[i], hookPriority, a.engine.config.Name, &a.engine.load.word, uint64(mask), uint64(pendingMask), f); err != nil {
			return err
		}
	}
	a.goroutineHook, err = calls.GoroutineHooks().RegisterWhile(hooks.Timer, hookPriority, a.engine.config.Name, &a.engine.load.word, uint64(pendingMask), a.forAll)
	return err
}

// idle is the idle hook: it polls on the LWP of a VP with nothing to run. Busy: the LWP calls the hook again at once.
// Waiting: the LWP calls the hook for sched.Config.PollSpin longer, and then may sleep in the Sleeper. Quiet: the LWP
// may sleep at once, since nothing is pending, another thread polls, or the window is over.
func (a *attachedEngine) idle(vp int) hooks.Verdict {
	e := a.engine
	before := e.load.view()
	if before.pending() == 0 || vp < 0 || vp >= len(a.vps) {
		return hooks.Quiet
	}
	s, now := &a.vps[vp], asm.Cycles()
	if s.ranThreads.Load() {
		s.ranThreads.Store(false)
		s.activeAt = now // it has just become idle
	}
	mine := !a.goroutinesPoll(now) && a.mayPoll(vp, now)
	if !mine || now-s.lastPoll.get() < e.ticks.idleGap && e.waiters.Load() == 0 {
		switch {
		case e.own(vp) == roundMoved: // tasks that were offloaded to vp, or submitted near it
			return hooks.Busy
		case mine:
			return a.persist(s, now)
		}
		return hooks.Quiet
	}
	s.lastPoll.set(now)
	s.lastIdlePoll.set(now)
	if g := asm.G(); s.pollerG.Load() != g {
		s.pollerG.Store(g)
	}
	if before.asleep() && a.progressor.state.Load() == blocking {
		e.sleeper.wake() // the progressor is no longer needed
	}
	woken := readied.Load()
	out := e.poll(vp)
	a.handOver(woken)
	bump(&s.polls)
	if out == roundMoved {
		now = asm.Cycles()
		bump(&s.finds)
		if wait := now - s.activeAt; wait >= e.ticks.hot { // for shorter waits the VP polls in any case
			e.arrivals.Took(wait, e.ticks.delay)
		}
		a.movedAt.Store(now)
	}
	if activity := e.load.view().activity(); out == roundMoved || activity != s.seenActivity {
		s.seenActivity, s.activeAt = activity, now
	}
	if now-s.activeAt >= e.ticks.hot {
		e.settle(vp) // not sooner, so that tasks which come by then need not be counted anew
	}
	return a.persist(s, now)
}

// persist is the verdict of the idle hook: whether the VP polls on.
func (a *attachedEngine) persist(s *vpState, now int64) hooks.Verdict {
	e := a.engine
	quiet := now - s.activeAt
	if quiet >= e.ticks.politeAfter && onlyCPU {
		yieldCPU() // the sender of the message may be a thread of this process
	}
	switch {
	case quiet < e.ticks.hot:
		return hooks.Busy
	case e.params.SpareLWPs == 0 && e.params.IdleGap < shortestPause:
		return hooks.Busy // no thread may block in the kernel
	case quiet < e.window():
		return hooks.Waiting
	}
	return hooks.Quiet
}

// window is how long, in cycles, an idle VP polls before it blocks in the kernel: the estimator takes a wake-up to
// cost as much as polling for the BlockingDelay. While all VPs compute the same estimator decides whether hooks
// poll or the progressor blocks.
func (e *Engine) window() int64 { return e.arrivals.Window(e.ticks.delay) }

// onlyCPU says that the process may use one CPU only.
var onlyCPU = runtime.NumCPU() == 1

// pollStamp is a time in asm.Cycles. Its writer sets it often, without a fence, so others see it a little later.
type pollStamp struct{ word atomic.Uintptr }

func (st *pollStamp) get() int64  { return int64(st.word.Load()) }
func (st *pollStamp) set(t int64) { asm.StoreReleasePtr(&st.word, uintptr(t)) }

// clear sets the time to never, with a full fence: the caller's later reads come after it.
func (st *pollStamp) clear() { t := int64(never); st.word.Store(uintptr(t)) }

// bump adds 1. If two threads call it at the same time, which is rare, one count may get lost.
func bump(n *atomic.Uintptr) { asm.StoreReleasePtr(n, n.Load()+1) }

// onSwitch is the switch hook: it polls on the thread just switched to, at most once per Granularity, since a poll may
// cost as much as ten switches. The scheduler calls it only while something is pending for which no sleeper blocks in
// the kernel.
func (a *attachedEngine) onSwitch(vp int) hooks.Verdict {
	if vp >= 0 && vp < len(a.vps) && !a.vps[vp].ranThreads.Load() {
		a.vps[vp].ranThreads.Store(true)
	}
	return a.due(vp, a.engine.ticks.switchPeriod)
}

// library is the library hook: it polls on a thread that enters a call which may block, at most once per Granularity.
func (a *attachedEngine) library(vp int) hooks.Verdict {
	return a.due(vp, a.engine.ticks.switchPeriod)
}

// timer is the timer hook: it polls in the name of a VP that is awake but may compute without ever reaching a hook.
// When nothing has come for the BlockingDelay, and there is no sleeper, it sends the progressor to the kernel. A
// sleeper that has fallen asleep before the latest request it wakes, to look again.
func (a *attachedEngine) timer(vp int) hooks.Verdict {
	e := a.engine
	v := e.load.view()
	if v.pending() == 0 {
		return hooks.Quiet
	}
	if v.watched() {
		// Store clockSleeps before the look at the load word: a sleeper clears watched before it looks at clockSleeps
		// (wakeClock).
		a.clockSleeps.Store(int32(vp) + 1)
		if e.load.view().watched() {
			return hooks.Quiet
		}
	}
	now := asm.Cycles()
	if a.goroutinesPoll(now) {
		return hooks.Waiting
	}
	verdict := a.due(vp, e.ticks.timerPeriod)
	e.tree.Load().survey(e)
	if activity := uint64(e.load.view().activity()); activity != a.timerSeenActivity.Load() {
		a.timerSeenActivity.Store(activity)
		a.movedAt.Store(asm.Cycles())
	}
	switch v := e.load.view(); {
	case v.asleep():
		if !v.watched() {
			e.sleeper.wake()
		}
	case now-a.movedAt.Load() >= e.ticks.delay && e.params.SpareLWPs > 0 && !a.idlers(now):
		a.progressor.send()
	}
	return verdict
}

// wakeClock makes the scheduler's clock tick again if the timer hook has allowed it to sleep while a sleeper is in the
// kernel. The sleeper calls it as it leaves, and a poster.
func (a *attachedEngine) wakeClock() {
	if a.clockSleeps.Load() != 0 {
		if vp := a.clockSleeps.Swap(0); vp != 0 && a.engine.load.view().pending() != 0 {
			a.scheduler.Kick(int(vp) - 1)
		}
	}
}

// notePoll notes that a waiter polls on its VP now, so that the switch hook does not poll at once.
func (a *attachedEngine) notePoll(now int64) {
	if vp := a.scheduler.CurrentVP(); uint(vp) < uint(len(a.vps)) {
		a.vps[vp].lastPoll.set(now)
	}
}

// due polls for a VP unless it polled within period (in cycles).
func (a *attachedEngine) due(vp int, period int64) hooks.Verdict {
	if vp < 0 || vp >= len(a.vps) {
		return hooks.Waiting
	}
	s := &a.vps[vp]
	now := asm.Cycles()
	if now-s.lastPoll.get() < period {
		return hooks.Waiting
	}
	s.lastPoll.set(now)
	bump(&s.polls)
	if a.engine.poll(vp) == roundMoved {
		bump(&s.finds)
		a.movedAt.Store(now)
		return hooks.Busy
	}
	a.engine.settle(vp)
	return hooks.Waiting
}
