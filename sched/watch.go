package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/direct"
)

// A thread may keep its VP without calling the scheduler. The clock, at its ticks, or a VP that is idle, notices that.
// If the thread waits in Go, the taker takes the OS thread back (takeBack); if it is in a system call, the taker seizes
// the VP (seize); if it computes, the taker has it stopped (ask, claimStopped). README.md, section 4, draws the three.
//
// A taker does none of the three while the thread is inside the scheduler, or has disabled preemption. One taker at a
// time acts, with the word of the VP borrowed, and while the thread cannot run: the status of its goroutine, or the
// scan bit in that, keeps it from running (package direct). In the portable mode (detach) a thread that keeps its VP
// too long loses it, whatever the thread does.

// takeBack gives the OS thread of c, which runs on v and waits in Go, back to its base.
func (v *vp) takeBack(c *co) bool {
	if c.isInside() || direct.Status(c.gHint()) != direct.Waiting {
		return false
	}
	old, ok := v.word.borrow()
	if !ok {
		return false
	}
	l := c.lwpHint()
	raceAcquire(l)
	chosen := direct.ByChoice(c.gHint())
	done := old != 0 && v.current() == c && l.id == old && l.giveBase(c)
	if done {
		v.cur = l.base
		if chosen {
			learnHabit(c, v)
		}
	}
	v.giveBack(old)
	if done {
		direct.Ready(l.base.seat.G)
	}
	return done
}

// giveBase gives the OS thread l from c, if that waits in Go, to the base.
func (l *lwp) giveBase(c *co) bool {
	if l.base == nil || !direct.Repossess(c.gHint(), l.osThreadHint(), l.base.seat.G, &c.inside, &c.id, lostID) {
		return false
	}
	c.isInside() // what it has done as an operation precedes what the base does
	l.clearOp()
	return true
}

// clearOp clears l.op: the thread that loses l leaves nothing for the base to finish. That thread wrote op when it was
// switched to, and is parked; the race detector has not seen it park.
//
//go:norace
func (l *lwp) clearOp() {
	l.op = opNone
	raceRelease(l)
}

// takeBackAlone is takeBack for a thread that waits in Go within Blocking: its LWP, which has no VP, becomes a spare.
func (l *lwp) takeBackAlone() {
	c := l.blockingCo.Load()
	if c == nil {
		return
	}
	switch direct.Status(c.gHint()) {
	case direct.Waiting:
		if l.giveBase(c) {
			direct.Ready(l.base.seat.G)
		}
	case direct.Preempted: // it was asked to stop before it entered Blocking: it goes on
		var idle, id uint32
		if direct.ClaimStopped(c.gHint(), l.osThreadHint(), c.gHint(), &idle, &id, 0) != direct.NotStopped {
			direct.Ready(c.gHint())
		}
	}
}

// gHint returns the goroutine of c: a racy read, of a field that does not change while c runs.
//
//go:norace
func (c *co) gHint() uintptr { return c.seat.G }

// lwpHint returns the LWP on which c runs: a racy read, of a field that does not change while c runs. A taker, which
// acts on it, reads it again with the word borrowed.
//
//go:norace
func (c *co) lwpHint() *lwp { return c.l }

// vpHint returns the VP that c has, or had last. c's own code calls it outside of an operation. By then c may have been
// stopped and resumed on another LWP, of which the race detector learns in the next operation only.
//
//go:norace
func (c *co) vpHint() *vp { return c.l.vp }

// osThreadHint returns the OS thread of l as the runtime knows it: a racy read; 0 until l has one.
//
//go:norace
func (l *lwp) osThreadHint() uintptr { return l.osThread }

// threadHint returns the thread that c runs: a racy read.
//
//go:norace
func (c *co) threadHint() *thread { return c.cur }

// isBase reports whether takers find no thread on c: it is a base, or has not begun. A racy read: base never changes,
// and gAddress changes only when c begins and ends.
//
//go:norace
func (c *co) isBase() bool { return c.base || c.gAddress == 0 }

// isCPUBound reports whether the thread on c was preempted when it ran last: a racy hint.
//
//go:norace
func (c *co) isCPUBound() bool { return c.cpuBound }

// ask has Go's preemption stop c, the thread that runs on v. It returns false if c cannot be stopped now.
func (v *vp) ask(c *co) bool {
	l := c.lwpHint()
	if l == nil || l.osThreadHint() == 0 || atomic.LoadUint32(&c.inside) != 0 || !direct.AskStop(c.gHint()) {
		return false
	}
	interrupt(int(l.tid.Load()))
	return true
}

// remind sends c, which was asked to stop, another signal: Go's preemption lets a signal pass that meets code which has
// no safe point, such as assembly.
func (v *vp) remind(c *co) {
	if l := c.lwpHint(); l != nil && direct.Status(c.gHint()) == direct.Running {
		interrupt(int(l.tid.Load()))
	}
}

// claimStopped settles what becomes of c, which was asked to stop. If c has stopped in its own code, claimStopped parks
// it and gives its OS thread to the base, which queues it. If c has stopped inside the scheduler or the Go runtime,
// claimStopped lets it go on. It returns false if c has not stopped, or if v is borrowed to another taker.
func (v *vp) claimStopped(c *co) bool {
	if direct.Status(c.gHint()) != direct.Preempted {
		return false
	}
	c.isInside() // what it did as an operation precedes what is done here
	old, ok := v.word.borrow()
	if !ok {
		return false
	}
	l := c.lwpHint()
	raceAcquire(l)
	got, goesOn := direct.NotStopped, c.gHint()
	inside := &c.inside
	if direct.StoppedInRuntime(goesOn) {
		inside = &inRuntime
	}
	switch {
	case old == 0 || v.current() != c || l.id != old || l.osThreadHint() == 0: // c has lost v; or it is pinned and has not begun
	case l.base == nil: // pinned: it keeps its OS thread, and goes on without the VP
		var id uint32
		if got = direct.ClaimStopped(goesOn, l.osThreadHint(), goesOn, inside, &id, 0); got == direct.Stopped {
			old, v.cur = 0, &v.vacant
			v.numSeized.Add(1)
			v.idle.kick()
		}
	default:
		if got = direct.ClaimStopped(goesOn, l.osThreadHint(), l.base.seat.G, inside, &c.id, lostID); got == direct.Stopped {
			atomic.StoreUint32(&c.resumeAs, stopped)
			c.setCPUBound()
			l.setPreempted(c)
			v.cur = l.base
			l.clearOp()
			goesOn = l.base.seat.G
		}
	}
	if got == direct.Stopped {
		count(&v.seizures, 1)
	}
	v.giveBack(old)
	if got != direct.NotStopped {
		direct.Ready(goesOn)
	}
	return got != direct.NotStopped
}

// inRuntime takes the place of co.inside for a thread that was stopped inside the Go runtime.
var inRuntime uint32 = isIn

// setCPUBound marks c, which a taker has just parked where it stopped, as CPU-bound. c itself reads and clears the mark
// when it runs again: by then the base that resumes it has seen lwp.preempted, which the taker stores later.
//
//go:norace
func (c *co) setCPUBound() { c.cpuBound = true }

// setPreempted leaves c for the base of l, which the taker readies next; the race detector does not see that Ready.
//
//go:norace
func (l *lwp) setPreempted(c *co) { l.preempted = c }

// seize takes v, for the spare l, from a thread that is in a system call, or is pinned and waits in Go.
func (v *vp) seize(l *lwp) bool {
	if !isDirect {
		return false
	}
	old, ok := v.word.borrow()
	if !ok {
		return false
	}
	c, to := v.current(), old
	if old != 0 && !c.isBase() {
		raceAcquire(c.lwpHint())
		if s := direct.Status(c.gHint()); s == direct.Syscall || s == direct.Waiting {
			if direct.Deprive(c.gHint(), s, &c.inside, &v.word.word, l.id|borrowBit) {
				c.isInside() // what it has done as an operation precedes what is done here
				to = l.id
				v.cur = l.base
				v.numSeized.Add(1)
			}
		}
	}
	v.word.giveBack(to)
	return to != old
}

// detach takes v from its thread, in the portable mode: the thread goes on as a goroutine, and the base of its LWP goes
// on with v. It reports whether that base has v now. A pinned thread's LWP has no base: its VP becomes free, and detach
// returns false.
func (v *vp) detach() bool {
	if v.current().isBase() || atomic.LoadUint32(&v.current().inside) != 0 {
		return false
	}
	old, ok := v.borrow()
	if !ok {
		return false
	}
	c := v.current()
	l := c.lwpHint()
	done := old != 0 && !c.isBase() && atomic.LoadUint32(&c.inside) == 0
	switch {
	case !done:
	case l.base == nil: // pinned
		old, done = 0, false
		v.cur = &v.vacant
		v.numSeized.Add(1)
		v.idle.kick()
	default:
		count(&v.seizures, 1)
		c.detachPortable(v)
	}
	v.giveBack(old)
	if done {
		direct.Ready(l.base.seat.G)
	}
	return done
}

// detachPortable takes c from its LWP in the portable mode, and returns the goroutine of the base, which gets v. The
// caller, c itself as the holder or a taker, readies that.
func (c *co) detachPortable(v *vp) (base uintptr) {
	l := c.lwpHint()
	atomic.StoreUint32(&c.id, lostID)
	v.cur = l.base
	l.clearOp()
	return l.base.seat.G
}

// remoteLooks is what an idle VP remembers of the other VPs, to notice threads that wait in Go. The holder of the idle
// VP uses it.
type remoteLooks struct {
	nextAt int64    // cycles: the VP does not look again before this time
	ticks  []uint32 // the tick of each VP at the last look
}

// lookPause is the time between two such looks, in ns: each look moves a cache line of the other VP.
const lookPause = 5000

// takeBackElsewhere takes back the OS threads of other VPs whose threads wait in Go, and reports whether it found any.
// The figure for which it is there: the pool of 64 on a Go channel, 2 VPs (docs/decisions/mechanisms.md).
func (v *vp) takeBackElsewhere(now int64, looks *remoteLooks) (found bool) {
	if now < looks.nextAt || !isDirect {
		return false
	}
	looks.nextAt = now + asm.ToCycles(lookPause)
	vps := v.sched.vps
	if looks.ticks == nil {
		looks.ticks = make([]uint32, len(vps))
	}
	for i, o := range vps {
		if o == v || len(vps) > 8 && v.random()%8 != 0 {
			continue
		}
		tick := o.ticks()
		if tick == looks.ticks[i] {
			if c := o.current(); !c.isBase() && o.takeBack(c) {
				found = true
			}
		}
		looks.ticks[i] = tick
	}
	return found
}

// runsCPUBound reports whether the thread that runs on v was preempted when it ran last: a hint.
func (v *vp) runsCPUBound() bool { return v.current().isCPUBound() }

// vpHint returns the VP of l; if l is the LWP of a pinned thread, the VP that it has, or had last: a hint.
//
//go:norace
func (l *lwp) vpHint() *vp { return l.vp }
