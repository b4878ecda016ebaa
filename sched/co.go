package sched

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
)

// Co (coroutine) is the scheduler's part of a goroutine to which it can switch. Enter and Visit return that of the
// calling thread; nil stands for a plain goroutine. All exported methods accept nil. Only the goroutine itself may call
// them.
type Co = co

// co is a goroutine to which the scheduler switches: a runner, which runs threads, or the base of an LWP. The goroutine
// itself uses the fields while it runs, and the co that switches to it while it is parked, except where a field says
// otherwise.
//
// A co fills two cache lines, and Go's size class of 128 bytes: each parked thread has one.
type co struct {
	inside        uint32         // isIn: the co is inside the scheduler. The co writes it, takers read it: see word.go
	inUser        uint32         // the value of inside while user code runs: 0, or noPreempt
	id            uint32         // the coID of the LWP on which it runs; lostID: it runs on none. Takers write it, too
	resumeAs      resumeMode     // how the co is to be resumed; atomic
	l             *lwp           // the LWP on which it runs; the co that switches to it sets it
	cur           *thread        // the thread that it runs; nil: none
	seed          *thread        // the thread that it is to run first; the co that switches to it sets it
	joiner        *co            // the co that waits for the end of cur, and for nothing else: see joinNow
	base          bool           // it is the base of an LWP
	stays         bool           // its thread keeps its OS thread: see stay.go
	inBlocking    bool           // its thread is in Blocking, without its VP
	ending        bool           // the goroutine is to end
	parkedByMaker bool           // the base that made it has parked its goroutine before that began
	beginsOutside bool           // it begins as a goroutine, with cur: see habit.go
	cpuBound      bool           // its thread was preempted when it ran last
	refusal       direct.Refusal // why its last switch did not take place; Done if it did
	beganTick     uint32         // the tick of its VP when cur began

	habit    *habit  // the habit for which its thread was begun as a goroutine; nil: none, or the thread has called the scheduler since
	gAddress uintptr // its goroutine as asm.G has it, for lookup; 0: it has not begun

	prevRegistered, nextRegistered *co // in the registry

	seat direct.Seat

	notes atomic.Pointer[Notes] // nil: neither an observer nor the watchdog needs any
}

// Bits of co.inside.
const (
	isIn      = 1 << iota
	noPreempt // its thread is not to be preempted: see preempt.go
)

// resumeMode says how a parked co is to be resumed. Only a base resumes a co that is not ordinary: a base leaves
// nothing that the resumed co would have to finish.
type resumeMode = uint32

const (
	ordinary resumeMode = iota
	stopped             // it was preempted, in the middle of its code
	parking             // it ran as a goroutine, and may not be parked yet
	staying             // the VP goes to its OS thread
)

// switchOp says what the next co on an LWP does for the co that has just left it (lwp.finish).
type switchOp uint8

const (
	opNone    switchOp = iota // nothing: that co is the base, or joins the next thread, or was queued already (vp.swap)
	opReady                   // enqueue it: it yielded
	opPool                    // put it into the pool: it is a runner without a thread
	opUnlock                  // unlock the queue in which it waits
	opEndSpin                 // end its spinning; it has unlocked its queue: see spinwait.go
	opHand                    // post it, by the base: it lost its VP
	opMove                    // send it to another VP: it may not run on this one any more
	opEnd                     // ready it: it is a runner that ends, as a goroutine
)

// Enter begins an operation of the calling thread. From Enter to Leave the thread holds its VP, and no taker can take
// it. A thread that has lost its VP waits in Enter until it has one again. On a plain goroutine, and in an idle hook,
// Enter returns nil. Between Enter and Leave nothing may block except Wait, and no code of users may run.
func Enter() *Co {
	c := lookup()
	if c == nil {
		return nil
	}
	storeRel(&c.inside, c.inUser|isIn)
	c.acquire()
	if !isDirect || c.l.vp.word.load() != c.id {
		return c.comeBack()
	}
	return c
}

// Visit is Enter for an operation that must not block, such as releasing a semaphore. It does not wait: a thread that
// has lost its VP is an outsider, as are goroutines and idle hooks, which run on the base of an LWP. To an outsider
// Visit returns nil. Wait is not allowed before Leave.
func Visit() *Co {
	c := lookup()
	if c == nil {
		return nil
	}
	storeRel(&c.inside, c.inUser|isIn)
	c.acquire()
	if !isDirect || c.l.vp.word.load() != c.id {
		return c.visit()
	}
	return c
}

// visit is the slow path of Visit, for a thread that does not find its VP its own at once.
func (c *co) visit() *co {
	if c.base {
		return nil
	}
	if c.regains() {
		return c
	}
	storeRel(&c.inside, c.inUser)
	return nil
}

// Leave ends what Enter or Visit began.
func (c *co) Leave() {
	if c != nil {
		storeRel(&c.inside, c.inUser)
	}
}

// enter is Enter for a caller that has c, its own co, at hand.
func (c *co) enter() {
	storeRel(&c.inside, c.inUser|isIn)
	c.acquire()
	if !isDirect || c.l.vp.word.load() != c.id {
		c.comeBack()
	}
}

// regains waits for a taker to give the VP back. It returns false if c does not have the VP any more.
func (c *co) regains() bool {
	for n := 1; ; n++ {
		c.announce()
		// The word is read before id: a taker writes id before it gives the word back, and the word may be as before.
		x := c.l.vp.word.load()
		id := atomic.LoadUint32(&c.id)
		if id == lostID {
			return false
		}
		switch {
		case x == id&^fencedBit:
			return true
		case holder(x) != id&^fencedBit:
			return false
		}
		spinPause(n)
	}
}

// comeBack is the slow path of Enter, for a thread that does not find its VP its own at once. If a taker has borrowed
// the VP, c waits the moment until it is given back. Otherwise c claims the VP if that is free, or parks until a VP
// runs it again. A base is no thread: comeBack returns nil.
func (c *co) comeBack() *co {
	if c.base {
		return nil
	}
	if c.regains() {
		return c
	}
	if atomic.LoadUint32(&c.id) == lostID {
		c.rejoin()
		return c
	}
	// c is still on its LWP, without the VP.
	v := c.l.vp
	if c.inBlocking {
		c.leaveBlocking()
	} else {
		v.numSeized.Add(-1)
	}
	if c.cur.belongs(v) && v.claim(c.l, c) {
		if v.trace.Load() != nil {
			v.mark(TraceRun, c.cur, uint64(c.l.id), 0)
		}
		return c
	}
	c.switchTo(nil, opHand)
	return c
}

// leaveBlocking notes that c is not in Blocking any more.
func (c *co) leaveBlocking() {
	c.inBlocking = false
	c.l.vp.numBlocking.Add(-1)
	c.l.blockingCo.CompareAndSwap(c, nil)
}

// rejoin is for a thread whose OS thread was taken back while it waited in Go. It queues itself, parks as a goroutine,
// and goes on when a base has switched to it. If it has locked its OS thread meanwhile it goes on when it is passed a
// VP.
func (c *co) rejoin() {
	t := c.cur
	if h := c.habit; h != nil {
		c.scoreHabit(h)
	}
	if c.inBlocking {
		c.leaveBlocking()
	}
	stays := isDirect && direct.Locks() != 0 && c.stayHere()
	if !stays {
		c.seat.Leave()
		atomic.StoreUint32(&c.resumeAs, parking)
	}
	t.vpHint().receive(t)
	if stays {
		c.awaitVP()
		return
	}
	direct.Park(&c.seat)
	c.acquire()
	if checked {
		c.check()
	}
}

// switchTo parks c, which holds its VP, and runs t, or the base if t is nil. All switches go through it, so that the
// return from direct.Switch has one address, which the CPU predicts. A runner without a thread (opPool) runs seeds
// from here and does not return to its caller. The compiler must not inline switchTo, as it does with a
// profile: then each caller has a return from direct.Switch of its own, and a spawn with its join takes 84 ns instead
// of 67.
//
//go:noinline
func (c *co) switchTo(t *thread, o switchOp) {
	if c.stays {
		c.stay(t, o)
		return
	}
	for {
		l := c.l
		v := l.vp
		if c.cpuBound {
			c.cpuBound = false
		}
		d := l.base
		if t != nil {
			if d = t.co; d == nil {
				if d = c.runner(); d == l.base {
					l.seed = t
				} else {
					d.seed = t // which the runner counts
					v.carry(d, l)
				}
			} else if atomic.LoadUint32(&d.resumeAs) != ordinary && !c.base {
				l.seed, d = t, l.base
				v.cur = d
			} else {
				storeRel64(&v.tick, v.tick+1)
				if t.wokenAt != 0 || v.trace.Load() != nil {
					v.noteRun(t, l)
				}
				v.carry(d, l)
			}
		} else if o != opHand {
			v.cur = d
		}
		l.previous, l.op = c, o
		c.release()
		for {
			if checked {
				c.checkNext(d)
			}
			if !direct.Recording(&c.refusal) {
				direct.Switch(d.seat.G, &c.refusal)
			}
			if c.refusal == direct.Done || c.retrySwitch(d, t) {
				break
			}
		}
		c.acquire()
		if checked {
			c.check()
		}
		if l := c.l; l.op == opUnlock {
			l.unlock.Unlock()
		} else if l.op != opNone {
			l.finish()
		}
		if o != opPool || c.ending {
			return
		}
		if t = c.work(); c.ending {
			return
		}
	}
}

// carry makes d the co that runs on l, and on v, which l holds.
func (v *vp) carry(d *co, l *lwp) {
	d.l = l
	d.id = l.coID
	v.cur = d
}

// retrySwitch is for a switch to d, for t, that was refused. It returns true if it has made the switch in another way
// and c runs again; otherwise the caller tries again.
func (c *co) retrySwitch(d *co, t *thread) (back bool) {
	r := c.refusal
	c.refusal = direct.Done
	switch r {
	case direct.Recorded:
		direct.HandOver(&c.seat, d.seat.G)
		return true
	case direct.Unlocked:
		switch n := direct.Locks(); {
		case n > direct.Held:
			return c.stayWith(d, t)
		case n > 0: // its code has called UnlockOSThread once too often
			direct.Rehold()
		default:
			c.l.relock()
			c.release() // again: relock has written after the first one
		}
	case direct.Asked:
		runtime.Gosched() // a stop of the world, or the Go scheduler's slice is over
	default:
		relax()
	}
	return false
}

// noteRun is the slow path of a switch to t on l: it samples how long t has waited since it was woken, and records the
// switch in a trace. Holder only.
func (v *vp) noteRun(t *thread, l *lwp) {
	if t.wokenAt != 0 {
		v.sampleWake(t)
	}
	if v.trace.Load() != nil {
		v.mark(TraceRun, t, uint64(l.id), 0)
	}
}

// finish does what the co that has just left l asked for (lwp.op); that co is parked now.
func (l *lwp) finish() {
	f := l.previous
	switch l.op {
	case opUnlock:
		l.unlock.Unlock()
	case opReady, opMove:
		l.vp.requeue(f.cur)
	case opPool:
		l.vp.pool.put(f)
	case opEndSpin:
		l.vp.endSpin(f.cur)
	case opHand:
		l.displaced = f.cur
	case opEnd:
		f.l = &l.vp.outsideLWP // no co leaves this LWP, so c has nothing to finish there
		raceRelease(f.l)
		direct.Ready(f.seat.G)
	}
}

// resumed ends an operation in which c was parked.
func (c *co) resumed() {
	v, t := c.l.vp, c.cur
	storeRel(&c.inside, c.inUser)
	if !v.sched.hooks.Silent(hooks.Switch) || t.extras.Load() != nil {
		c.resumedSlow()
	}
	t.waiter.kind = InOther // after resumedSlow, which reads the kind of the wait
}

// resumedSlow is the slow path of resumed: it fires the Switch hooks, and makes the calls that the thread's extras
// asks for.
func (c *co) resumedSlow() {
	v := c.vpHint()
	if !v.sched.hooks.Silent(hooks.Switch) {
		v.fire(hooks.Switch)
	}
	if x := c.cur.extras.Load(); x != nil {
		c.runSwitchCallbacks(x)
	}
}

// runner takes a runner from the pool for a seed. If the pool is empty it returns the base, which makes
// one: a new goroutine inherits the labels of its maker, and the base has none.
func (c *co) runner() *co {
	if d := c.l.vp.pool.take(); d != nil {
		return d
	}
	if !c.base {
		c.l.vp.cur = c.l.base
		return c.l.base
	}
	return c.newRunner()
}

// newRunner makes a runner that is parked. The base of an LWP calls it.
func (c *co) newRunner() *co {
	d := &co{inside: isIn, id: lostID, l: c.l}
	raceBirth()
	c.l.vp.pool.numRunners++
	if g := direct.Go(d.live); g != 0 {
		d.seat.G, d.parkedByMaker = g, true
		return d
	}
	for n := 1; !d.seat.Parked(); n++ {
		if relax(); !isDirect || n%spinsPerYield == 0 {
			osNap()
		}
	}
	return d
}
