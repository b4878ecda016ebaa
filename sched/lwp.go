package sched

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
	"github.com/pm2-go/pm2/sched/internal/machine"
)

// lwp is an OS thread, bound to the CPU of its VP. A goroutine of its own, the base, is locked to it and runs the idle
// loop there. An LWP holds its VP, or sleeps as a spare, or runs one thread without a VP, which that thread has given
// away (Blocking) or has lost in a system call. In the portable mode an LWP is only a goroutine. The co that runs on
// the LWP uses its fields, except where a field says otherwise.
type lwp struct {
	id       uint32       // its number, from 1: see lwps
	coID     uint32       // the co.id of a co that runs on it
	vp       *vp          // the VP that it serves; that of a pinned thread's LWP changes
	osThread uintptr      // its OS thread as the Go runtime knows it; 0: it has none yet
	tid      atomic.Int32 // its OS thread as the kernel knows it

	base        *co      // its base; nil: it is the LWP of a pinned thread
	previous    *co      // the co that has just left this LWP
	op          switchOp // what the next co on it does for previous
	unlock      *Spin    // the lock that opUnlock unlocks
	seed        *thread  // the thread that the base is to run first
	joiner      *co      // the co that waits for the seed which is about to begin here
	recipient   *co      // the co that stays, to which the base is to pass the VP
	displaced   *thread  // the thread that has lost the VP, which the base is to post
	preempted   *co      // the co that was preempted, which the base is to queue; the taker that gave the OS thread back writes it
	receivedVP  *vp      // the VP that was passed to the co that stays here; the base that passes it writes it before the wake
	thief       thief
	remoteLooks remoteLooks        // when it looked at other VPs, while it is idle
	blockingCo  atomic.Pointer[co] // the co that is in Blocking here, without the VP; nil: none
	hadVP       bool               // the LWP of a pinned thread: it has had a VP
	foundWork   bool               // it has run a thread since it last woke
	ending      bool               // live has returned, so a deferred call does not go on
	mustLook    bool               // it has been in the Sleeper and has not looked since
	inIdleHooks bool               // it is inside the Idle hooks
	inSleep     bool               // it is inside Sleeper.Sleep
	token       byte               //lint:ignore U1000 for the race detector, see race_on.go

	_          [128]byte
	wake       atomic.Uint32 // futex: the order that it gets, a spareOrder; 0: none
	inSleeper  atomic.Bool   // it sleeps in the Sleeper rather than in the futex
	batch      atomic.Bool   // it sleeps as SCHED_BATCH: waking it preempts no thread
	sleepState sleepState
}

// spareOrder is the order with which a spare LWP is woken; 0: none.
type spareOrder = uint32

const (
	toClaim spareOrder = 1 + iota // take the VP if it is free and there is work
	toSeize                       // take the VP from a thread that is in a system call
	toStop                        // end
	toPoll                        // the Sleeper reported something: take the VP if it is free
)

func coIDOf(id uint32) uint32 {
	if fenced {
		return id | fencedBit
	}
	return id
}

// main is the goroutine of the base, from its start to its end.
func (l *lwp) main() {
	s := l.vp.sched
	defer s.lwps.done.Done()
	if isDirect {
		direct.Hold()
		if s.leaveFirstThread(l.main) {
			return
		}
	}
	direct.Unlabel() // its runners would inherit the labels
	l.base = &co{l: l, base: true, inside: isIn, inUser: isIn, id: lostID}
	l.base.seat.G = direct.Current()
	raceBirth()
	register(l.base)
	defer func() {
		unregister(l.base)
		s.unbind(int(l.tid.Load()))
		s.lwps.remove(l)
	}()
	l.attach()
	s.bind(l)
	l.vp.idle.arrive()
	l.live(l.vp.claim(l, l.base), 0) // even without work: only a holder marks its VP asleep, for Kick to find
}

// leaveFirstThread has main, the code of the calling goroutine, run on another OS thread if this one is the first of
// the process: that is not for us and cannot end. It returns true then, and the caller, which has called Hold, returns.
// main calls Done of lwps.done when it ends.
func (s *Scheduler) leaveFirstThread(main func()) bool {
	if !machine.OnFirstThread() {
		return false
	}
	s.lwps.done.Add(1)
	started := make(chan struct{})
	go func() { close(started); main() }() // on another OS thread, since this one is locked
	<-started
	direct.Unhold()
	return true
}

// attach makes the calling OS thread that of l.
func (l *lwp) attach() {
	if !isDirect {
		return
	}
	l.osThread = direct.Machine()
	l.tid.Store(int32(gettid()))
	l.setPolicy(schedOther)
}

// live is the loop of an LWP: it serves while it holds the VP, then sleeps until it gets an order, and returns when the
// order is to end. o is an order that l has already got; 0: none. A hook that calls Goexit does not end the LWP.
func (l *lwp) live(holding bool, o spareOrder) {
	defer func() {
		if l.ending {
			return
		}
		if x := recover(); x != nil { // a hook has panicked
			e := &PanicError{Thread: "an idle hook", Value: x, Stack: debug.Stack()}
			go func() { panic(e) }()
			select {}
		}
		if l.inSleep {
			l.live(false, l.await(l.leaveSleeper(true)))
			return
		}
		l.inIdleHooks = false
		l.live(true, 0)
	}()
	for {
		if holding {
			l.serve()
		}
		if o == 0 {
			o = l.sleep()
		}
		if o == toStop {
			if l.mustLook && !l.vp.sched.stopping.Load() {
				l.vp.kick() // another LWP must look
			}
			break
		}
		holding, o = l.obtain(o), 0
	}
	l.ending = true
}

// obtain claims or seizes the VP as the order o says, and reports whether l holds it.
func (l *lwp) obtain(o spareOrder) bool {
	v := l.vp
	won := o == toSeize && v.seize(l)
	if o != toPoll {
		v.idle.arrive() // after seize, so that no two LWPs seize at once; before the look, so that a later waker wakes the next LWP
	}
	if won {
		l.mustLook = false
		count(&v.seizures, 1)
		v.mark(TraceSeize, nil, 0, 0)
		return true
	}
	// An LWP that leaves the Sleeper must look, whatever woke it: meanwhile the Sleeper may have refused another LWP,
	// because l was in it, and that LWP sleeps on its futex.
	look := l.mustLook || o == toPoll
	l.mustLook = false
	if look && v.disabled.Load() {
		v.sched.Kick(-1) // another VP must look
		return false
	}
	kicked := v.idle.takeKick() || look
	if (kicked || v.hasWork()) && v.claim(l, l.base) {
		return true
	}
	if kicked { // another LWP or a taker has v: it must see the kick when it releases v or gives it back
		v.idle.kick()
	}
	return false
}

// resume runs t until another co switches back to the base. It returns false if l must stop serving: it has lost the
// VP, or must pass it on.
func (l *lwp) resume(t *thread) bool {
	v := l.vp
	if d := t.co; d != nil {
		switch atomic.LoadUint32(&d.resumeAs) {
		case parking:
			if !d.seat.Parked() {
				v.requeue(t) // its goroutine has yet to park
				if relax(); !isDirect {
					runtime.Gosched()
				}
				return true
			}
			atomic.StoreUint32(&d.resumeAs, ordinary)
		case stopped:
			atomic.StoreUint32(&d.resumeAs, ordinary)
		case staying:
			if t.wokenAt != 0 || v.trace.Load() != nil {
				v.noteRun(t, l)
			}
			l.recipient = d
			return false
		}
	}
	l.base.switchTo(t, opNone)
	v = l.vp // a thread that stays may have brought l to another VP
	if c := l.preempted; c != nil {
		l.preempted = nil
		c.isInside() // an atomic read: what c has done in its last operation happens before this
		if c.joiner != nil {
			c.settleJoiner()
		}
		v.cpuBound.ran()
		v.requeue(c.cur)
	}
	return l.displaced == nil && v.word.holder() == l.id
}

// serve runs ready threads until l has lost its VP or has been idle for long enough to sleep.
func (l *lwp) serve() {
	v := l.vp
	s := v.sched
	l.foundWork = false
	if l.displaced != nil || l.recipient != nil {
		return
	}
	var since, last int64 // cycles: since when v is idle, 0: it is not; when l looked last
	for n := 1; l.seed != nil || !v.disabled.Load(); n++ {
		t := l.seed // no other can resume it
		if l.seed = nil; t == nil {
			t = v.pop()
		}
		if t != nil {
			v.withdrawRequest()
			since, n = 0, 0
			l.foundWork = true
			if !l.resume(t) {
				return
			}
			v = l.vp
			continue
		}
		if since == 0 {
			v.mark(TraceIdle, nil, 0, 0)
		}
		verdict := hooks.Quiet
		if !s.hooks.Empty(hooks.Idle) {
			l.inIdleHooks = true
			verdict = v.fireIdle()
			l.inIdleHooks = false
		}
		if v.hasWork() && !v.putsOff() {
			continue
		}
		now := asm.Cycles()
		if since == 0 {
			since, last = now, now
		}
		brief := s.stopping.Load() || v.numSeized.Load() > 0 || v.numBlocking.Load() > 0 && verdict == hooks.Quiet
		if v.putsOff() {
			count(&v.counts.spin, uint64(max(now-last, 0)))
			v.cpuBound.looked(now-last, s.slice, v.choices, brief || verdict != hooks.Busy && now-since > s.patience(verdict))
			last = now
			s.pauseIdle()
			continue
		}
		switch idle := now - since; {
		case len(v.vpsByDistance) == 0:
		case (idle > s.stealAfter || brief || randomSteals) && v.steal(&l.thief, now):
			s.helpGap.Store(s.helpMin)
			continue
		case idle > s.requestAfter:
			v.request()
		}
		if p := s.planners.Load(); p != nil && v.seek(*p, asm.Cycles(), asm.ToCycles(plannersPause)) {
			continue
		}
		if brief {
			break // a thread of ours may run on this CPU without the VP
		}
		count(&v.counts.spin, uint64(max(now-last, 0)))
		last = now
		if v.pool.trimDue.Load() != 0 {
			v.pool.trim(s.cfg.SpareRunners)
		}
		if v.takeBackElsewhere(now, &l.remoteLooks) {
			continue
		}
		if verdict != hooks.Busy && now-since > s.patience(verdict) {
			break
		}
		s.pauseIdle()
	}
	v.withdrawRequest()
}

// pauseIdle is the pause of an idle VP between two looks. On a shared machine it gives the CPU away.
func (s *Scheduler) pauseIdle() {
	if s.SharedCPUs() {
		giveWay()
	} else {
		relax()
	}
}

// fireIdle fires the idle hooks, and measures how long one round in hookSample takes.
func (v *vp) fireIdle() hooks.Verdict {
	count(&v.counts.rounds, 1)
	if v.trace.Load() != nil {
		return v.tracedHooks(hooks.Idle)
	}
	if v.counts.rounds%hookSample != 0 {
		return v.sched.hooks.Fire(hooks.Idle, v.id)
	}
	before := asm.Cycles()
	verdict := v.sched.hooks.Fire(hooks.Idle, v.id)
	count(&v.counts.hook, hookSample*uint64(max(asm.Cycles()-before, 0)))
	return verdict
}

// sleep makes l a spare, releases the VP if l holds it, and returns the order with which l is woken. l enters the
// reserve first, because the wakeIfDue in post or release may choose it.
func (l *lwp) sleep() spareOrder {
	v := l.vp
	s := v.sched
	holds := v.word.holder() == l.id
	if s.stopping.Load() && l.displaced == nil && l.recipient == nil {
		if holds {
			v.release(l)
		}
		return toStop
	}
	var sleeper Sleeper
	if p := s.sleeper.Load(); p != nil && l.recipient == nil && holds && !v.disabled.Load() {
		sleeper = *p
	}
	l.inSleeper.Store(sleeper != nil)
	v.idle.push(l)
	switch t := l.displaced; {
	case l.recipient != nil:
		p := l.recipient
		l.recipient = nil
		l.passTo(p)
	case t != nil:
		l.displaced = nil
		v.receive(t)
	case holds:
		if !l.foundWork {
			s.helpGap.Store(min(2*s.helpGap.Load(), s.helpMax))
		}
		v.fallAsleep()
		count(&v.counts.parks, 1)
		v.mark(TracePark, nil, 0, 0)
		v.counts.sleeping.begin(asm.Cycles())
		v.release(l)
	default:
		v.wakeIfDue(false)
	}
	if sleeper == nil { // in the Sleeper an LWP keeps its policy: an event from outside preempts a thread that computes, as for any read
		l.setPolicy(schedBatch)
		l.batch.Store(true)
	}
	if sleeper != nil && l.wake.Load() == 0 {
		s.inSleeper.Add(1)
		l.inSleep = true
		return l.await(l.leaveSleeper(sleeper.Sleep(&l.wake)))
	}
	// l was woken on its way to the Sleeper. It must still look for pending work, or go back to the Sleeper: another VP
	// may sleep on its futex because this one was polling just now, and the work that l is woken for may be stolen
	// meanwhile.
	l.mustLook = l.mustLook || sleeper != nil
	l.inSleeper.Store(false)
	return l.await(false)
}

// leaveSleeper notes that l has come out of the Sleeper. polled is what Sleep has returned, and is returned.
func (l *lwp) leaveSleeper(polled bool) bool {
	l.inSleep = false
	l.vp.sched.inSleeper.Add(-1)
	l.mustLook = polled
	l.inSleeper.Store(false)
	return polled
}

// await waits for an order, as a spare. If polled is set the Sleeper has reported something: then l, unless it has an
// order, leaves the reserve with the order toPoll.
func (l *lwp) await(polled bool) spareOrder {
	if polled && l.wake.Load() == 0 && l.vp.idle.remove(l) {
		l.unbatch()
		return toPoll
	}
	for l.wake.Load() == 0 {
		futexWait(&l.wake, &l.sleepState)
	}
	l.unbatch()
	return l.wake.Swap(0)
}

// wakeWith gives l, which sleeps, an order. It stores the order, then reads inSleeper. If l is in the Sleeper, l reads
// wake when it comes out.
func (l *lwp) wakeWith(o spareOrder) {
	l.wake.Store(o)
	if l.inSleeper.Load() {
		if p := l.vp.sched.sleeper.Load(); p != nil {
			(*p).Wake()
		}
		return
	}
	futexWake(&l.wake)
}

// sliceVP is the kernel slice of LWPs, in ns. It is short so that an LWP runs soon after it wakes: EEVDF uses it
// from Linux 6.12 on; older kernels ignore it.
const sliceVP = 100_000

// setPolicy sets how the kernel schedules l. No privilege is needed.
func (l *lwp) setPolicy(policy uint32) {
	if isDirect {
		l.vp.sched.setPolicy(int(l.tid.Load()), policy, sliceVP)
	}
}

// unbatch lets l preempt other OS threads again. l itself or its waker calls it.
func (l *lwp) unbatch() {
	if l.batch.Load() && l.batch.Swap(false) {
		l.setPolicy(schedOther)
	}
}

// setPolicy sets the kernel's policy and slice, in ns, of an OS thread; 0: the calling one.
func (s *Scheduler) setPolicy(tid int, policy uint32, slice uint64) {
	if s.cfg.NoKernelSlices {
		slice = 0
	}
	setAttr(tid, policy, s.nice, slice)
}
