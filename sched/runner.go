package sched

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
)

// A runner is a goroutine that runs threads. It runs seeds on its own stack, one after the other, without a
// switch. If the next thread is parked, or none is ready, the runner goes to the pool and switches. A thread that
// blocks keeps its runner.
//
//	made ──── by a base: parked ─────────────────────────────────────────────► idle, or has a seed
//	idle ──── a seed comes: switched to ─────────────────────────────────────► runs threads
//	runs ──── its thread has lost the VP while it waited in Go, and ends ────► ends, as a goroutine
//	runs ──── Goexit; or the thread leaves profiler labels behind ───────────► ends: opEnd
//	idle ──── surplus, or the scheduler stops: readied with ending set ──────► ends
//
// The garbage collector unwinds each frame of each parked thread, which is the greater part of what many threads cost.
// So only two of our frames lie below a thread's body: those of live and run.

// live is the life of a runner.
func (c *co) live() {
	if !c.wasParkedByMaker() {
		direct.Park(&c.seat)
	}
	c.acquire()
	if c.ending {
		return // the scheduler ends a runner that has run no thread
	}
	c.registerAndFinish()
	defer c.exiting()
	for !c.ending {
		c.run()
	}
}

// wasParkedByMaker reports whether the base that made the runner has parked its goroutine already; if not, the runner
// parks itself. The maker writes the field before the switch to c; when the goroutine reads it, it has not acquired
// that write yet.
//
//go:norace
func (c *co) wasParkedByMaker() bool { return c.parkedByMaker }

// registerAndFinish registers c, which begins to run, and finishes for the co that ran on this LWP before.
func (c *co) registerAndFinish() {
	c.registerSelf()
	if l := c.l; l.op != opNone && atomic.LoadUint32(&c.id) != lostID {
		l.finish()
	}
}

// registerSelf makes the calling goroutine known as c, to lookup and, if there is a watchdog, by its number.
func (c *co) registerSelf() {
	register(c)
	if c.vpHint().sched.cfg.Watchdog > 0 {
		c.ownNotes().goroutine = asm.GoID()
	}
}

// exiting is deferred by live. It ends a thread that called Goexit and then panicked in a deferred
// call: run has recovered the panic, which does not stop the Goexit.
func (c *co) exiting() {
	if !c.ending {
		c.endByGoexit()
	}
}

// unwound is deferred by run. After a panic it returns to live, and run ends the thread. A Goexit cannot be
// stopped, so unwound itself ends a thread that called it.
func (c *co) unwound() {
	if c.ending {
		return
	}
	if x := recover(); x != nil {
		c.reportPanic(x, debug.Stack()) // the frames of the panic are still there
		return
	}
	c.endByGoexit()
}

// endByGoexit ends the thread of a runner whose stack a Goexit unwinds, and then the runner, which leaves its LWP and
// returns as a goroutine.
func (c *co) endByGoexit() {
	defer func() {
		if c.ending {
			return
		}
		if x := recover(); x != nil {
			c.reportPanic(x, debug.Stack())
		}
		c.endByGoexit() // makes the calls that are left
	}()
	if t := c.cur; t != nil {
		if x := t.extras.Load(); x != nil {
			c.runEndCalls(x)
		}
		if c.end(t); c.ending {
			return
		}
	}
	c.leave()
}

// leave ends the runner, which holds its VP: it goes on as a goroutine, with ending set.
func (c *co) leave() {
	if c.stays {
		c.vacate()
		return
	}
	c.resetOSThreadLocks()
	v := c.l.vp
	v.pool.numRunners--
	unregister(c)
	c.ending = true
	t := c.takeJoiner()
	if t == nil {
		t = v.pop()
	}
	c.l.seed = t // nothing is left to do for c but to ready it
	c.switchTo(nil, opEnd)
}

// takeJoiner returns the joiner that waits for the thread which has just ended on c (joinNow), to run next; nil: there
// is none, or it may not run on this VP and was sent to another one.
func (c *co) takeJoiner() (t *thread) {
	j := c.joiner
	if j == nil {
		return nil
	}
	c.joiner = nil
	v := c.l.vp
	t = j.cur
	if t.vp = v; !t.mayRun(v) {
		v.expel(t)
		return nil
	}
	return t
}

// run runs threads until one of them panics, or c is to end: then ending is set.
func (c *co) run() {
	defer c.unwound()
	if t := c.cur; t != nil { // t has panicked, or one of the calls at its end has; or t begins as a goroutine
		if c.beginsOutside {
			c.beginsOutside = false
			c.call(t, t.extras.Load())
		}
		if x := t.extras.Load(); x != nil {
			c.runEndCalls(x)
		}
		if c.end(t); c.ending || (c.stays || direct.Marked()) && c.clean() {
			return
		}
	}
	if t := c.work(); !c.ending {
		c.switchTo(t, opPool)
	}
}

// work runs seeds until the next thread is parked, and returns that one. It returns nil if none is ready.
func (c *co) work() *thread {
	for {
		l := c.l
		v := l.vp
		t := c.seed
		if c.seed = nil; t == nil {
			if t = c.takeJoiner(); t == nil {
				t = v.pop()
			}
		}
		if t == nil || t.co != nil {
			return t
		}
		storeRel64(&v.tick, v.tick+1)
		if l.joiner != nil {
			c.joiner, l.joiner = l.joiner, nil
		}
		t.co, c.cur, c.beganTick = c, t, uint32(v.tick)
		if v.trace.Load() != nil {
			v.mark(TraceRun, t, uint64(l.id), 0)
		}
		x := t.extras.Load()
		if x != nil && x.pinned && c.pin(t, x) {
			continue
		}
		storeRel(&c.inside, c.inUser)
		if !v.sched.hooks.Silent(hooks.Switch) {
			v.fire(hooks.Switch)
		}
		c.call(t, x)
		if x := t.extras.Load(); x != nil {
			c.runEndCalls(x)
		}
		if c.end(t); c.ending || (c.stays || direct.Marked()) && c.clean() {
			return nil
		}
	}
}

// call runs the body of t.
func (c *co) call(t *thread, x *extras) {
	if x != nil {
		c.renew(x)
	}
	if a := around.Load(); a != nil {
		a.call(Thread{t, t.id}, t.body.Run)
	} else if f, ok := t.body.(funcBody); ok {
		f()
	} else {
		t.body.Run()
	}
}

// clean keeps what a thread has left on its goroutine from the next thread. It undoes OS-thread locks. It ends a runner
// that carries profiler labels or debug.SetPanicOnFault, and then returns true.
func (c *co) clean() bool {
	if !c.stays {
		if c.resetOSThreadLocks(); !direct.Marked() {
			return false
		}
	}
	c.leave()
	return true
}

// resetOSThreadLocks undoes the calls of runtime.LockOSThread and UnlockOSThread of the thread that has ended.
func (c *co) resetOSThreadLocks() {
	switch n := direct.Locks(); {
	case n == 0:
		c.l.relock()
	case n != direct.Held && n>>32 == 0:
		direct.Rehold()
	}
}

// end ends thread t, whose code has returned: the handle's generation is over, the joiners are woken, and the
// descriptor may be used again. On return c holds its VP, or ending is set because t ended without one (endOutside).
//
//	alive ── an outsider, for whatever it wants: asked = 1, then mu (life) ───► asked
//	asked ── Join, WatchEnd: into joiners, under mu ──────────────────────────► asked
//	asked ── time limit, context, cancel, UnwatchEnd: out of joiners ─────────► asked
//	alive, asked ── Detach: Join is refused from now on; joiners go on ───────► the same
//	alive ── end: id = 0; no other thread has asked ──────────────────────────► ended
//	asked ── end: id = 0; under mu: all joiners out, asked = 0, are there
//	         extras by now? wakes them ───────────────────────────────────────► ended
//	ended ── recycle, if it has no extras: id = the next number ──────────────► alive, another thread
//	ended ── if it has extras: they keep the outcome, and the descriptor is not
//	         used again ──────────────────────────────────────────────────────► for ever
//
// A handle that finds another id than its own knows that its thread has ended; how, it finds in the extras, if they
// have its number, else the outcome is nil. Most threads end before another one has asked for them, so the lock is
// taken only if one has (thread.lockAlive):
//
//	end:      id = 0;     barrier;                    asked? lock, wake joiners
//	outsider: asked = 1;  lock (compare-and-swap);    id as in the handle? alive
//
// Both first write, then pass a barrier, then read: either the outsider finds that the thread has ended, or end waits
// for the lock. The barrier is the store of id, an exchange. asked may still be set for the former thread of the
// descriptor: then end takes the lock in vain.
func (c *co) end(t *thread) {
	storeRel(&c.inside, c.inUser|isIn)
	c.acquire()
	x := t.extras.Load()
	if !isDirect || c.l.vp.word.load() != c.id {
		if x == nil && atomic.LoadUint32(&c.id) == lostID {
			c.endOutside(t)
			return
		}
		c.comeBack()
	}
	number := t.id
	atomic.SwapUint64(&t.id, 0)
	v := c.l.vp
	if v.trace.Load() != nil {
		v.markEnd(t, number)
	}
	c.cur = nil
	t.co, t.body = nil, nil
	if atomic.LoadUint32(&t.asked) != 0 {
		x = t.wakeJoiners(c)
	}
	if x != nil {
		c.inUser = 0
		storeRel(&c.inside, isIn)
		c.leaveBubble(x)
		v.startPostExit(x)
	} else {
		v.recycle(t)
	}
	storeRel64(&v.ended, v.ended+1)
}

// wakeJoiners has c, which may be nil, wake the joiners of t, whose generation is over, and returns the extras: an
// outsider may have made them just before that was over.
func (t *thread) wakeJoiners(c *co) *extras {
	t.mu.Lock()
	w := t.joiners.PopAll()
	storeRel(&t.asked, 0)
	x := t.extras.Load()
	t.mu.Unlock()
	c.WakeAll(w)
	return x
}

// endGeneration ends a thread that no VP runs: it wakes the joiners and tells the bubble, on behalf of c, which may be
// nil. It reports whether t has extras; if not, the descriptor may be used again.
func (t *thread) endGeneration(c *co) (hasExtras bool) {
	atomic.SwapUint64(&t.id, 0)
	x := t.extras.Load()
	if atomic.LoadUint32(&t.asked) != 0 {
		x = t.wakeJoiners(c)
	}
	if x != nil {
		c.leaveBubble(x)
	}
	return x != nil
}

// endOutside is end for a thread without a VP, and without extras. The runner ends with it, as a goroutine.
func (c *co) endOutside(t *thread) {
	s := c.l.vp.sched
	if h := c.habit; h != nil {
		c.scoreHabit(h)
	}
	if c.inBlocking {
		c.leaveBlocking()
	}
	unregister(c)
	c.ending = true
	c.cur = nil
	t.co, t.body = nil, nil
	t.endGeneration(nil)
	if j := c.joiner; j != nil {
		(*co)(nil).ready(j.cur)
	}
	s.endedOutside.Add(1)
}

// reportPanic settles what becomes of the panic of a thread, which run ends afterwards. With Attr.Catch the panic
// becomes the error of Join. Without it the program ends as by a panic in a goroutine, with the stack of this thread.
func (c *co) reportPanic(x any, stack []byte) {
	t := c.cur
	if t == nil { // the panic is the scheduler's own, between two threads
		go func() { panic(&PanicError{Thread: "the scheduler", Value: x, Stack: stack}) }()
		select {}
	}
	e := &PanicError{Thread: t.title(), Value: x, Stack: stack}
	if !t.catches() {
		go func() { panic(e) }()
		select {}
	}
	if x := t.extras.Load(); x.err == nil || x.err == ErrCanceled { // else a call at the thread's end has panicked, too: the first panic counts
		x.err = e
	}
}
