package sched

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// lwp is a goroutine locked to an OS thread which is bound to its VP's CPU. It
// holds the VP, or sleeps as a spare, or goes on with one thread alone whose VP
// was taken or given away.
type lwp struct {
	id       uint32 // from 1; while its thread must not be preempted, with firmBit
	vp       *vp
	osThread uintptr // identity of its OS thread; a rebind changes it
	tid      atomic.Int32

	base    *co    // where it idles and sleeps
	from    *co    // what has just left it, and
	op      op     // what to do for it
	lands   int32  // switches until it looks where it is, and
	looks   uint32 // how many of these looks there were
	unlock  *Spin
	passed  *pinned // the base passes the VP on to it
	handed  *thread // handed back: the base posts it
	thief   thief
	found   bool // it has run a thread since it last woke
	over    bool // it ends
	watched bool // it has been in the Sleeper and has not looked since
	hooked  bool // it is inside the Idle hooks
	napping bool // it is inside the Sleeper

	lostAt atomic.Int64 // ns: when its VP was taken from its thread, which goes on; else not above 0: see lost
	told   int64        // the watchdog's: of which lostAt it has told

	_         [128]byte
	wake      atomic.Uint32 // futex: the order it was woken with
	inSleeper atomic.Bool   // it sleeps in the Sleeper rather than in the futex
	batch     atomic.Bool   // it sleeps as SCHED_BATCH: waking it preempts nobody
}

// order to a spare.
type order = uint32

const (
	toClaim order = 1 + iota // take the VP if it is free and there is work
	toSeize                  // take the VP from a thread that has had its slice
	toStop                   // end
	toPoll                   // the Sleeper reported something: take the VP if it is free
)

func (l *lwp) main() {
	s := l.vp.sched
	defer s.lwps.done.Done()
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() { // the process's first thread: not for us
		s.lwps.done.Add(1)
		started := make(chan struct{})
		go func() { close(started); l.main() }() // on another one, for this one is locked
		<-started
		runtime.UnlockOSThread()
		return
	}
	l.base = &co{l: l, base: true}
	register(l.base)
	defer func() {
		unregister(l.base)
		claimThread(int(l.tid.Load()), false)
		s.unbind(int(l.tid.Load())) // it ends, being locked; unless it is the first thread, which cannot
		s.lwps.remove(l)
	}()
	l.rebind()
	l.vp.called.Store(0)
	l.live(l.vp.claim(l), 0) // even without work: it is to go to sleep as a holder, for Kick to find
}

// live serves, if it holds the VP, and sleeps by turns; o is what it was woken with
// already, 0: nothing. It survives the Goexit that iter.Pull passes on to the base when a
// runner that ends by Goexit makes it its heir (see co.succeed), and that of a hook.
func (l *lwp) live(holding bool, o order) {
	defer func() {
		if l.over {
			return
		}
		if x := recover(); x != nil { // a hook has panicked
			e := &PanicError{Thread: "an idle hook", Value: x, Stack: debug.Stack()}
			go func() { panic(e) }()
			select {}
		}
		switch {
		case l.hooked:
			l.hooked = false
			l.live(true, 0)
		case l.napping:
			l.live(false, l.await(l.woke(true)))
		default:
			runtime.LockOSThread()
			l.base.land()
			l.look()
			l.live(true, 0)
		}
	}()
	for {
		if holding {
			l.serve()
		}
		if o == 0 {
			o = l.sleep()
		}
		if o == toStop {
			if l.watched && !l.vp.sched.stopping.Load() {
				l.vp.kick() // somebody else must look
			}
			break
		}
		holding, o = l.obtain(o), 0
	}
	l.over = true
}

// obtain gets the VP, if it is to be had.
func (l *lwp) obtain(o order) bool {
	v := l.vp
	var loser *lwp
	found, won := v.word.load(), false
	if o == toSeize && seizable(found) {
		loser = v.sched.lwps.get(lwpOf(found)) // before: later its id may be another one's
		won = v.word.seize(found, l.id)
	}
	if o != toPoll {
		v.called.Store(0) // after seize: never two at once; before the look: a later call finds us looking, or wakes the next
	}
	if won {
		l.watched = false
		count(&v.seizures, 1)
		v.mark(TraceSeize)
		v.robbed.Add(1)
		if loser != nil {
			loser.lost(nanotime())
			if v.sched.lwps.get(lwpOf(found)) == loser { // else its OS thread is no more, and the number may be used again
				v.sched.setPolicy(int(loser.tid.Load()), schedOther, sliceLone) // not by its VP, which a pinned thread may be changing
			}
		}
		return true
	}
	// Who leaves the Sleeper must look, whatever woke it: meanwhile another VP may
	// have been refused there, and gone to sleep on its futex, because we were in it.
	look := l.watched || o == toPoll
	l.watched = false
	if look && v.off.Load() {
		v.sched.Kick(-1) // another VP must look
		return false
	}
	kicked := v.kicked.Swap(0) != 0 || look
	if (kicked || v.hasWork()) && v.claim(l) {
		return true
	}
	if kicked { // and somebody else has v, a thief for a moment perhaps: when v is released, sleep or giveBack must see it
		v.kicked.Store(1)
	}
	return false
}

// lost and regained say that the VP was taken from the thread of l, and that the thread
// has come back to the scheduler since. The one that takes the VP says so when it has it,
// and the thread may be faster: then lostAt is below 0 until the other one follows.
//
//	0 ── lost ───► ns ── regained ──► 0
//	0 ── regained ──► -1 ── lost ───► 0
func (l *lwp) lost(ns int64) {
	for {
		at := l.lostAt.Load()
		next := ns
		if at < 0 {
			next = at + 1
		}
		if l.lostAt.CompareAndSwap(at, next) {
			return
		}
	}
}

func (l *lwp) regained() {
	for {
		at := l.lostAt.Load()
		if l.lostAt.CompareAndSwap(at, min(at, 1)-1) {
			return
		}
	}
}

// serve runs ready threads until l has lost its VP or has been idle for long
// enough to sleep.
func (l *lwp) serve() {
	v := l.vp
	s := v.sched
	l.found = false
	if l.handed != nil || l.passed != nil {
		return
	}
	var since, last int64 // cycles: idle from then on; the last look
	for n := 1; l.base.seed != nil || !v.off.Load(); n++ {
		t := l.base.seed // nobody else had a runner for it
		if l.base.seed = nil; t == nil {
			t = v.pop()
		}
		if t != nil {
			since, n = 0, 0
			l.found = true
			if l.base.switchTo(t, opNone); l.handed != nil || l.passed != nil {
				return
			}
			continue
		}
		if since == 0 {
			v.mark(TraceIdle)
		}
		verdict := hooks.Quiet
		if !s.hooks.Empty(hooks.Idle) {
			l.hooked = true
			verdict = v.fireIdle()
			l.hooked = false
			if v.hasWork() {
				continue
			}
		}
		if v.steal(&l.thief) {
			s.helpGap.Store(s.helpMin)
			continue
		}
		if p := s.bubbles.Load(); p != nil && v.askBubbles(*p, asm.Cycles(), asm.ToCycles(bubblePause)) {
			continue
		}
		if s.stopping.Load() || v.robbed.Load() > 0 || v.away.Load() > 0 && verdict == hooks.Quiet {
			return // never spin on a CPU that others of ours want
		}
		now := asm.Cycles()
		if since == 0 {
			since = now
		} else {
			count(&v.n.spin, uint64(max(now-last, 0)))
		}
		last = now
		if v.trims() {
			tick := v.tick
			if l.trim(); l.handed != nil || l.passed != nil {
				return
			}
			if v.tick != tick {
				since, n = 0, 0
			}
			continue
		}
		if verdict != hooks.Busy && now-since > s.patience(verdict) {
			return
		}
		if s.shared {
			osYield()
		} else {
			relax()
		}
	}
}

// fireIdle fires the idle hooks, and now and then looks how long they take.
func (v *vp) fireIdle() hooks.Verdict {
	count(&v.n.rounds, 1)
	if v.trace.Load() != nil {
		return v.tracedHooks(hooks.Idle)
	}
	if v.n.rounds%hookSample != 0 {
		return v.sched.hooks.Fire(hooks.Idle, v.id)
	}
	before := asm.Cycles()
	verdict := v.sched.hooks.Fire(hooks.Idle, v.id)
	count(&v.n.hook, hookSample*uint64(max(asm.Cycles()-before, 0)))
	return verdict
}

// sleep makes l a spare, gives away what it has, and waits for an order. It is
// a spare first: the nudge in post or release may well choose it.
func (l *lwp) sleep() order {
	v := l.vp
	s := v.sched
	if s.stopping.Load() && l.handed == nil && l.passed == nil {
		if v.word.holds(l.id) {
			v.release()
		}
		return toStop
	}
	var sleeper Sleeper
	if p := s.sleeper.Load(); p != nil && l.passed == nil && v.word.holds(l.id) && !v.off.Load() {
		sleeper = *p
	}
	l.inSleeper.Store(sleeper != nil)
	displaced := l.handed != nil
	v.pushSpare(l)
	switch t := l.handed; {
	case l.passed != nil:
		p := l.passed
		l.passed = nil
		p.pass(v)
	case t != nil:
		l.handed = nil
		if t.mayRun(v) {
			v.post(t)
		} else {
			v.expel(t)
		}
	case v.word.holds(l.id):
		if !l.found {
			s.helpGap.Store(min(2*s.helpGap.Load(), s.helpMax))
		}
		v.fallIdle()
		count(&v.n.parks, 1)
		v.mark(TracePark)
		v.n.sleeping.begin(asm.Cycles())
		v.release()
	default:
		v.nudge(false)
	}
	switch {
	case sleeper != nil: // what ends that comes from outside: it preempts whoever computes, as it does for any blocking read
	case v.robbed.Load() == 0:
		l.setPolicy(schedBatch, sliceVP)
		l.batch.Store(true)
	case displaced: // whoever wakes l will want it to preempt those that are displaced now
		l.setSlice(sliceVP)
	}
	if sleeper != nil && l.wake.Load() == 0 {
		s.watching.Add(1)
		l.napping = true
		return l.await(l.woke(sleeper.Sleep(&l.wake)))
	}
	// Roused on its way to the Sleeper: it still has to look, or come back to it. Another VP may
	// sleep on its futex because this one was polling just now, and what it is roused for
	// may have been stolen meanwhile.
	l.watched = l.watched || sleeper != nil
	l.inSleeper.Store(false)
	return l.await(false)
}

// woke ends a nap in the Sleeper.
func (l *lwp) woke(polled bool) bool {
	l.napping = false
	l.vp.sched.watching.Add(-1)
	l.watched = polled
	l.inSleeper.Store(false)
	return polled
}

// await waits for an order, as a spare. polled: the Sleeper has reported something, so that
// l takes the VP itself if nobody has an order for it.
func (l *lwp) await(polled bool) order {
	if polled && l.wake.Load() == 0 && l.vp.removeSpare(l) {
		l.unbatch()
		return toPoll
	}
	for l.wake.Load() == 0 {
		futexWait(&l.wake)
	}
	l.unbatch()
	return l.wake.Swap(0)
}

// rouse gives a sleeping l an order. The store comes before the look: if l is
// seen in the Sleeper it has yet to look at wake when it comes out.
func (l *lwp) rouse(o order) {
	l.wake.Store(o)
	if l.inSleeper.Load() {
		if p := l.vp.sched.sleeper.Load(); p != nil {
			(*p).Wake()
		}
		return
	}
	futexWake(&l.wake)
}

// rebind: the goroutine has come to another OS thread (or to its first one).
// Bind this one to the CPU and give the former its freedom back. An OS thread
// that the Go runtime cloned in between may have inherited the narrow mask: the
// timer thread will look.
func (l *lwp) rebind() {
	if l.id == 0 {
		return // no LWP any more: see retire
	}
	s := l.vp.sched
	old := l.tid.Swap(int32(unix.Gettid()))
	l.osThread = asm.ThreadID()
	claimThread(int(l.tid.Load()), true)
	s.bind(l)
	l.setPolicy(schedOther, sliceVP)
	if old != 0 {
		claimThread(int(old), false)
		s.unbind(int(old))
		s.rebinds.Add(1)
		s.audit.Store(true)
	}
}

// Kernel slices, in ns: a VP is to run soon after it wakes, a thread that has
// lost its VP gets the rest in long pieces. EEVDF heeds them from Linux 6.12 on;
// older kernels ignore them.
const (
	sliceVP   = 100_000
	sliceLone = 100_000_000
)

func (l *lwp) setSlice(ns uint64) { l.setPolicy(schedOther, ns) }

// setPolicy sets how the kernel schedules l. No privilege is needed.
func (l *lwp) setPolicy(policy uint32, slice uint64) {
	l.vp.sched.setPolicy(int(l.tid.Load()), policy, slice)
}

// unbatch: l may preempt others again. By l itself, or by who wakes it.
func (l *lwp) unbatch() {
	if l.batch.Load() && l.batch.Swap(false) {
		l.setPolicy(schedOther, sliceVP)
	}
}

func (s *Scheduler) setPolicy(tid int, policy uint32, slice uint64) {
	if s.cfg.NoKernelSlices {
		slice = 0
	}
	setAttr(tid, policy, s.nice, slice)
}
