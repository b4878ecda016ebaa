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

// lwp is an OS thread, bound to its VP's CPU. A goroutine of its own, the base, is locked to
// it; there the LWP idles and sleeps. An LWP holds the VP, or sleeps as a spare, or carries
// one thread without a VP, which that has given away or lost in a system call. In the portable mode
// an LWP is a goroutine only.
type lwp struct {
	id       uint32 // from 1
	coID     uint32 // what a co that it carries has as its id
	vp       *vp
	osThread uintptr // the OS thread, as the runtime knows it
	tid      atomic.Int32

	base        *co      // nil: the LWP of a pinned thread
	previous    *co      // the co that has just left this LWP
	op          switchOp // what the next co does for from
	unlock      *Spin
	seed        *thread // what the base is to run first
	joiner      *co     // waits for the fresh thread that is about to begin here
	recipient   *co     // a co that stays: the base passes the VP to it
	displaced   *thread // has lost the VP: the base posts it
	preempted   *co     // was preempted: the base queues it. The taker that gave the OS thread back writes it
	receivedVP  *vp     // the VP that was passed to a co that stays; written before that is woken
	thief       thief
	remoteLooks remoteLooks
	blockingCo  atomic.Pointer[co] // the co that is in Blocking here, without the VP
	hadVP       bool               // the LWP of a pinned thread has had a VP
	foundWork   bool               // it has run a thread since it last woke
	ending      bool               // it ends
	mustLook    bool               // it has been in the Sleeper and has not looked since
	inIdleHooks bool               // it is inside the Idle hooks
	inSleep     bool               // it is inside the Sleeper
	token       byte               //lint:ignore U1000 for the race detector, see race_on.go

	_          [128]byte
	wake       atomic.Uint32 // futex: the order it was woken with
	inSleeper  atomic.Bool   // it sleeps in the Sleeper rather than in the futex
	batch      atomic.Bool   // it sleeps as SCHED_BATCH: waking it preempts no thread
	sleepState sleepState
}

// spareOrder is an order that a spare LWP gets when it is woken.
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

func (l *lwp) main() {
	s := l.vp.sched
	defer s.lwps.done.Done()
	if isDirect {
		direct.Hold()
		if machine.OnFirstThread() {
			s.lwps.done.Add(1)
			started := make(chan struct{})
			go func() { close(started); l.main() }() // on another one, for this one is locked
			<-started
			direct.Unhold()
			return
		}
	}
	direct.Unlabel() // which its runners would inherit
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

// attach makes the calling OS thread l's.
func (l *lwp) attach() {
	if !isDirect {
		return
	}
	l.osThread = direct.Machine()
	l.tid.Store(int32(gettid()))
	l.setPolicy(schedOther)
}

// live is the life of an LWP: it serves while it holds the VP, then sleeps until it gets an order. o is an
// order that l has already got, 0: none. A hook that calls Goexit does not end the LWP.
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

// obtain claims or seizes the VP as the order o says, and tells whether l holds it.
func (l *lwp) obtain(o spareOrder) bool {
	v := l.vp
	won := o == toSeize && v.seize(l)
	if o != toPoll {
		v.idle.arrive() // after seize: never two at once; before the look: a later call finds us looking, or wakes the next
	}
	if won {
		l.mustLook = false
		count(&v.seizures, 1)
		v.mark(TraceSeize, nil, 0, 0)
		return true
	}
	// An LWP that leaves the Sleeper must look, whatever woke it: meanwhile another VP may
	// have been refused there, and gone to sleep on its futex, because we were in it.
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
	if kicked { // another LWP or a taker has v: release and giveBack must see the kick
		v.idle.kick()
	}
	return false
}

// resume runs t. It returns false if l must stop serving: it has lost the VP, or must give it away.
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
	v = l.vp // with a thread that stayed l has come to another VP
	if c := l.preempted; c != nil {
		l.preempted = nil
		c.isInside() // what it has done as an operation precedes what is done here
		if c.joiner != nil {
			c.settleJoiner()
		}
		v.cpuBound.ran()
		v.requeue(c.cur)
	}
	return l.displaced == nil && v.word.holder() == l.id
}

// serve runs ready threads until l has lost its VP or has been idle for long
// enough to sleep.
func (l *lwp) serve() {
	v := l.vp
	s := v.sched
	l.foundWork = false
	if l.displaced != nil || l.recipient != nil {
		return
	}
	var since, last int64 // cycles: idle from then on; the last look
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
		case len(v.neighbours) == 0:
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
			break // never spin on a CPU that others of ours want
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

// fireIdle fires the idle hooks, and now and then looks how long they take.
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

// sleep makes l a spare, releases the VP if l holds it, and waits for an order. l enters the
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
		if t.mayRun(v) {
			v.post(t)
		} else {
			v.expel(t)
		}
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
	if sleeper == nil { // not in the Sleeper: an event from outside preempts the thread that computes, as for any blocking read
		l.setPolicy(schedBatch)
		l.batch.Store(true)
	}
	if sleeper != nil && l.wake.Load() == 0 {
		s.inSleeper.Add(1)
		l.inSleep = true
		return l.await(l.leaveSleeper(sleeper.Sleep(&l.wake)))
	}
	// l was woken on its way to the Sleeper. It must still look for pending work, or go back to the Sleeper: another
	// VP may sleep on its futex because this one was polling just now, and the work that l is
	// woken for may be stolen meanwhile.
	l.mustLook = l.mustLook || sleeper != nil
	l.inSleeper.Store(false)
	return l.await(false)
}

// leaveSleeper notes that l has come out of the Sleeper. polled: the Sleeper has reported something.
func (l *lwp) leaveSleeper(polled bool) bool {
	l.inSleep = false
	l.vp.sched.inSleeper.Add(-1)
	l.mustLook = polled
	l.inSleeper.Store(false)
	return polled
}

// await waits for an order, as a spare. If polled is set the Sleeper has reported something: then
// l without an order leaves the reserve and takes the VP.
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

// wakeWith gives l, which sleeps, an order. It stores the order before it looks at inSleeper. If it finds l in the
// Sleeper, l looks at wake when it comes out.
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

func (s *Scheduler) setPolicy(tid int, policy uint32, slice uint64) {
	if s.cfg.NoKernelSlices {
		slice = 0
	}
	setAttr(tid, policy, s.nice, slice)
}
