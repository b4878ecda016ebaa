package pioman

import (
	"math"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/topo"
)

// The polling policy: which processor polls at which point, when, and how often. Three questions:
//
// Is anything pending? If not, every hook returns after one load.
//
// Is there a sleeper that blocks in the kernel for all (the load word's asleep)? Then the kernel
// will say when something comes, and a computing thread need not look: the load word is watched, the
// switch and library hooks are not even called, the timer's returns at once, and the clock of the
// scheduler may sleep. A post meanwhile outdates that: hooks poll again, and the next tick
// of the timer has the sleeper take a fresh look.
//
// Which idle processors poll? One per socket, the one that was idle there first, so that a poller whose processor gets
// work is succeeded by another one; or, for experiments, all (Params.AllIdle). The others are Quiet, and sleep.
//
//	processors     something pending                                   polls
//	some idle      since less than the window                          an idle one, every IdleGap, or continuously while a waiter sleeps
//	some idle      for longer                                          none: an idle one blocks in the kernel
//	all compute    since less than the BlockingDelay                   they, at switches; the scheduler's clock, at its ticks
//	all compute    for longer                                          none: the progressor (progressor.go) blocks
//	one dedicated  always                                              that one (progressor.go)

// vpState is what the hooks remember of one virtual processor.
type vpState struct {
	last pollStamp // of the last poll at a hook, or by a waiter; its LWP and the timer write

	polled pollStamp      // asm.Cycles of its last poll when idle, never: it is not idle, or went to sleep; its LWP writes, others read
	ran    atomic.Bool    // it has run threads since it was idle, while there was no sleeper; as polled
	by     atomic.Uintptr // asm.G of the LWP's goroutine that polled then

	polls atomic.Uintptr // rounds made at hooks
	finds atomic.Uintptr // of these, in which something happened

	// The idle hook's alone, hence its LWP's.
	seen   view  // activity at its last look
	active int64 // asm.Cycles when something happened last, or since when it is idle

	_ [line - 64]byte
}

// Places of the points in pointNames.
const (
	idlePoint = iota
	switchPoint
	timerPoint
	libraryPoint
)

const (
	// never is when a virtual processor polled that has not polled yet; no difference
	// from it overflows.
	never = math.MinInt64 / 2

	// lapse is how long, in ns, an idle processor may be away from its hooks and still
	// counts as polling: longer than most rounds take.
	lapse = 50_000
)

// pollPolicy is what an attachment knows of which VP polls when: the state of each VP, and the hooks.
type pollPolicy struct {
	vps     []vpState
	sockets []*claim // by VP; nil: all poll when they are idle
	lapse   int64    // cycles
	hooks   [len(hookPoints)]*hooks.Hook

	_           [line]byte
	clockSleeps atomic.Int32 // the VP, plus 1, whose timer hook was Quiet because a sleeper is in the kernel, so that the clock may sleep; 0: none
	_           [line - 4]byte

	// The timer hook's; also fired by a thread that polls.
	timerSaw atomic.Uint64 // activity at its last look
	movedAt  atomic.Int64  // asm.Cycles when that changed, or a poll found something
}

// claim is the right to poll for the idle VPs of one socket.
type claim struct {
	by atomic.Int64 // the VP, plus 1, that has it
	at atomic.Int64 // asm.Cycles when that one used it last
	_  [line - 16]byte
}

func (y *pollPolicy) init(s Scheduler, params *Params) {
	y.vps = make([]vpState, s.NumVP())
	for i := range y.vps {
		y.vps[i].last.set(never)
		y.vps[i].polled.clear()
	}
	y.lapse = asm.ToCycles(lapse)
	y.movedAt.Store(asm.Cycles())
	y.sockets = claims(s, params.AllIdle)
}

// claims has, for each VP, the right to poll for the idle VPs of its socket; nil: each polls. VPs of which it is not known
// where they are have one together.
func claims(s Scheduler, all bool) (list []*claim) {
	if all || s.NumVP() == 0 {
		return nil
	}
	of := map[*topo.Item]*claim{}
	for _, pu := range s.Queues()[0].VPs() {
		var socket *topo.Item
		if pu != nil {
			socket = pu.Ancestor(topo.Package)
		}
		if of[socket] == nil {
			of[socket] = &claim{}
			of[socket].at.Store(never)
		}
		list = append(list, of[socket])
	}
	return list
}

// mayPoll tells whether it is VP vp's turn to poll, being idle.
func (y *pollPolicy) mayPoll(vp int, now int64) bool {
	if y.sockets == nil {
		return true
	}
	c, me := y.sockets[vp], int64(vp)+1
	at, by := c.at.Load(), c.by.Load()
	if by != me {
		if now-at < y.lapse || !c.by.CompareAndSwap(by, me) {
			return false
		}
	}
	if by != me || now-at > y.lapse/8 { // not at every poll: others look at this line
		c.at.Store(now)
	}
	return true
}

// othersPoll withdraws the caller, an LWP's goroutine that is about to sleep, from the
// pollers, and tells whether another idle processor still polls, so that the caller need not
// block in the kernel. Each withdraws before it looks: of two, one sees that it is the last.
func (y *pollPolicy) othersPoll() bool {
	g := asm.G()
	for i := range y.vps {
		if v := &y.vps[i]; v.by.Load() == g {
			v.polled.clear()
			if y.sockets != nil && y.sockets[i].by.CompareAndSwap(int64(i)+1, 0) {
				y.sockets[i].at.Store(never)
			}
		}
	}
	return y.idlers(asm.Cycles())
}

// idlers tells whether an idle processor polls.
func (y *pollPolicy) idlers(now int64) bool {
	for i := range y.vps {
		if now-y.vps[i].polled.get() < y.lapse {
			return true
		}
	}
	return false
}

// register registers the hooks of the points in use, and that of goroutines that poll. The caller holds the
// engine's mu.
func (a *attachedEngine) register() (err error) {
	for i, f := range [len(hookPoints)]hooks.Func{a.idle, a.onSwitch, a.timer, a.library} {
		if a.e.params.Points&(1<<i) == 0 || a.dedicated != nil {
			continue
		}
		mask := pendingMask
		if i == switchPoint || i == libraryPoint {
			mask |= watchedBit
		}
		if a.hooks[i], err = a.s.Hooks().RegisterWithin(hookPoints[i], hookPriority, a.e.config.Name, &a.e.load.w, uint64(mask), uint64(pendingMask), f); err != nil {
			return err
		}
	}
	a.forOthers, err = calls.GoroutineHooks().RegisterWhile(hooks.Timer, hookPriority, a.e.config.Name, &a.e.load.w, uint64(pendingMask), a.forAll)
	return err
}

// idle polls on the LWP of a virtual processor with nothing to run. Busy: it is to poll on.
// Waiting: it may sleep in the Sleeper, when the scheduler thinks it has polled
// enough. Quiet: it may do so at once.
func (a *attachedEngine) idle(vp int) hooks.Verdict {
	e := a.e
	before := e.load.view()
	if before.pending() == 0 || vp < 0 || vp >= len(a.vps) {
		return hooks.Quiet
	}
	s, now := &a.vps[vp], asm.Cycles()
	if s.ran.Load() {
		s.ran.Store(false)
		s.active = now // it has just become idle
	}
	mine := !a.goroutinesPoll(now) && a.mayPoll(vp, now)
	if !mine || now-s.last.get() < e.ticks.idleGap && e.waiters.Load() == 0 {
		switch {
		case e.own(vp) == moved: // what was offloaded to it, or submitted near it
			return hooks.Busy
		case mine:
			return a.persist(s, now)
		}
		return hooks.Quiet
	}
	s.last.set(now)
	s.polled.set(now)
	if g := asm.G(); s.by.Load() != g {
		s.by.Store(g)
	}
	if before.asleep() && a.progressor.state.Load() == blocking {
		e.sleeper.wake() // the progressor is no longer needed
	}
	woken := readied.Load()
	out := e.poll(vp)
	a.handOver(woken)
	bump(&s.polls)
	if out == moved {
		now = asm.Cycles()
		bump(&s.finds)
		if wait := now - s.active; wait >= e.ticks.hot { // what comes sooner is polled for in any case
			e.arrivals.Took(wait, e.ticks.delay)
		}
		a.movedAt.Store(now)
	}
	if activity := e.load.view().activity(); out == moved || activity != s.seen {
		s.seen, s.active = activity, now
	}
	if now-s.active >= e.ticks.hot {
		e.settle(vp) // not sooner: what comes by then need not be counted anew
	}
	return a.persist(s, now)
}

// persist tells an idle processor for how long to go on.
func (a *attachedEngine) persist(s *vpState, now int64) hooks.Verdict {
	e := a.e
	quiet := now - s.active
	if quiet >= e.ticks.politeAfter && onlyCPU {
		yieldCPU() // the sender of what is waited for may be in this process
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

// window is for how long, in cycles, an idle processor polls before it blocks in the kernel: to be woken is taken to be
// worth the BlockingDelay of polling. What arrives while all processors compute is found by hooks or by the progressor;
// the same estimator decides which.
func (e *Engine) window() int64 { return e.arrivals.Window(e.ticks.delay) }

// onlyCPU says that the process may use one CPU only.
var onlyCPU = runtime.NumCPU() == 1

// pollStamp is a time in asm.Cycles that its writer sets often, hence without a barrier: others
// see it a little later.
type pollStamp struct{ w atomic.Uintptr }

func (st *pollStamp) get() int64  { return int64(st.w.Load()) }
func (st *pollStamp) set(t int64) { asm.StoreReleasePtr(&st.w, uintptr(t)) }

// clear is a barrier: all processors see it before the caller's later reads.
func (st *pollStamp) clear() { t := int64(never); st.w.Store(uintptr(t)) }

// bump counts what one thread at a time counts, or nearly so: a count may get lost.
func bump(n *atomic.Uintptr) { asm.StoreReleasePtr(n, n.Load()+1) }

// onSwitch polls at a context switch, on the thread just switched to, at most once
// per Granularity: a poll may cost as much as ten switches. It is called only while something
// is pending for which no sleeper blocks in the kernel.
func (a *attachedEngine) onSwitch(vp int) hooks.Verdict {
	if vp >= 0 && vp < len(a.vps) && !a.vps[vp].ran.Load() {
		a.vps[vp].ran.Store(true)
	}
	return a.due(vp, a.e.ticks.switchPeriod)
}

// library polls on a thread that enters a call which may block, as often.
func (a *attachedEngine) library(vp int) hooks.Verdict {
	return a.due(vp, a.e.ticks.switchPeriod)
}

// timer polls in the name of a virtual processor that is awake but may compute
// without ever reaching a hook. When nothing has come for long, and there is no
// sleeper, it sends the progressor to the kernel. When there is one, since before the latest request, it
// makes that one take a fresh look.
func (a *attachedEngine) timer(vp int) hooks.Verdict {
	e := a.e
	v := e.load.view()
	if v.pending() == 0 {
		return hooks.Quiet
	}
	if v.watched() {
		// First the mark, then the look: a sleeper that wakes up looks at the mark afterwards (wakeClock).
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
	if activity := uint64(e.load.view().activity()); activity != a.timerSaw.Load() {
		a.timerSaw.Store(activity)
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

// wakeClock makes the scheduler's clock tick again if it was allowed to sleep while there was a sleeper
// in the kernel; for the sleeper that wakes, and for a poster.
func (a *attachedEngine) wakeClock() {
	if a.clockSleeps.Load() != 0 {
		if vp := a.clockSleeps.Swap(0); vp != 0 && a.e.load.view().pending() != 0 {
			a.s.Kick(int(vp) - 1)
		}
	}
}

// notePoll notes that a waiter polls on its virtual processor now, so that the hook at the switch to the
// next thread need not.
func (a *attachedEngine) notePoll(now int64) {
	if vp := a.s.CurrentVP(); uint(vp) < uint(len(a.vps)) {
		a.vps[vp].last.set(now)
	}
}

// due polls for a virtual processor unless it polled within period (in cycles).
func (a *attachedEngine) due(vp int, period int64) hooks.Verdict {
	if vp < 0 || vp >= len(a.vps) {
		return hooks.Waiting
	}
	s := &a.vps[vp]
	now := asm.Cycles()
	if now-s.last.get() < period {
		return hooks.Waiting
	}
	s.last.set(now)
	bump(&s.polls)
	if a.e.poll(vp) == moved {
		bump(&s.finds)
		a.movedAt.Store(now)
		return hooks.Busy
	}
	a.e.settle(vp)
	return hooks.Waiting
}
