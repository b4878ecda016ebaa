package sched

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// life returns what runner c does, for iter.Pull. When it returns, the runtime resumes
// whoever is parked in the slot that was made with c.
//
// The collector unwinds each frame of each parked thread, which for many threads is the
// greater part of their cost: so there are two of ours below a thread's body, this
// function's and run's.
func (c *co) life() func(yield func(struct{}) bool) {
	return func(yield func(struct{}) bool) {
		if c.quit { // it has not been needed
			return
		}
		c.own.yield = yield
		c.begin()
		defer c.relive()
		for !c.run() {
		}
		runtime.UnlockOSThread()
	}
}

// begin makes the calling goroutine, which has just been switched to for the first
// time, known as runner c.
func (c *co) begin() {
	register(c)
	if c.l.vp.sched.cfg.Watchdog > 0 {
		c.noting().goroutine = number()
	}
	runtime.LockOSThread()
	c.land()
}

// live is the rest of a life, further up the stack, after a Goexit.
func (c *co) live() {
	defer c.relive()
	for !c.run() {
	}
	runtime.UnlockOSThread()
}

// relive is deferred by a life. It is for a Goexit that run has not seen as such: one
// whose deferred calls panicked in their turn. Recovering that panic does not stop the
// Goexit, which unwinds run's caller next.
func (c *co) relive() {
	if !c.quit {
		c.depth++
		c.live()
	}
}

// unwound is deferred by run. A thread that panics or calls Goexit unwinds this
// goroutine, and nothing can stop a Goexit; but this call runs first, and goes on with
// the runner's work from there, for as long as the runner lives.
func (c *co) unwound() {
	if c.quit { // run has returned, or c's heir has been passed a Goexit
		return
	}
	if x := recover(); x != nil {
		c.died(x, debug.Stack()) // the frames of the panic are still there
		return                   // and run returns false
	}
	c.exited()
	c.live()
}

// run runs threads until one of them panics, or c is to end: then quit is set, and it
// returns true. Fresh threads run right here, with no switch; for a parked one, or none,
// c goes back to the pool.
func (c *co) run() (over bool) {
	defer c.unwound()
	if t := c.cur; t != nil { // it has panicked or exited, and so may what it wanted to be called
		if x := t.x.Load(); x != nil {
			c.conclude(x)
		}
		c.end(t)
	}
	for {
		v := c.l.vp
		t := c.seed
		if c.seed = nil; t == nil {
			t = v.pop()
		}
		if t == nil || t.co != nil || c.depth > maxDepth {
			switch {
			case c.depth > maxDepth:
				if c.succeed(t) {
					return true
				}
				v.wornAt = asm.Cycles() + asm.ToCycles(wornPause)
				c.switchTo(t, opWorn)
			case len(v.worn) > 0:
				c.rest(t)
			default: // c.switchTo(t, opPool)
				s := c.depart(t, opPool)
				letGo()
				if s.inNext {
					s.next()
				} else {
					s.yield(struct{}{})
				}
				runtime.LockOSThread()
				c.land()
			}
			if c.quit {
				return true
			}
			continue
		}
		storeRel64(&v.tick, v.tick+1)
		t.co, c.cur = c, t
		if r := v.trace.Load(); r != nil {
			r.mark(TraceRun, t, uint64(c.l.id), 0)
		}
		v.word.leave(c.l.id)
		if !v.sched.hooks.Silent(hooks.Switch) {
			v.fireSwitch()
		}
		if x := t.x.Load(); x != nil {
			c.renew(x)
		}
		if a := around.Load(); a != nil {
			a.call(Thread{t, t.gen}, t.body.Run)
		} else if f, ok := t.body.(plain); ok {
			f()
		} else {
			t.body.Run()
		}
		if x := t.x.Load(); x != nil {
			c.conclude(x)
		}
		c.end(t)
	}
}

// end ends thread t, whose code has returned, and takes the VP: its handle's
// generation is over, whoever joins is woken, the descriptor is used again.
//
//	alive ── an outsider, for whatever it wants: asked = 1, then mu (life) ───► asked
//	asked ── Join, WatchEnd: into joiners, under mu ──────────────────────────► asked
//	asked ── time limit, context, cancel, UnwatchEnd: out of joiners ─────────► asked
//	alive, asked ── Detach: Join is refused from now on; who waits goes on ───► the same
//	alive ── end: gen = 0; nobody has asked ──────────────────────────────────► ended
//	asked ── end: gen = 0; under mu: all joiners out, asked = 0; wakes them ──► ended
//	ended ── recycle, if it has no rare part: gen = the next number ──────────► alive, another thread
//	ended ── bury, if it has: the rare part keeps the outcome, the descriptor
//	         is not used again ───────────────────────────────────────────────► for ever
//
// A handle that finds another gen than its own knows that its thread has ended; how, it
// finds in the rare part, if that is of its number, else the outcome is nil. Most
// threads end before anybody has asked for them, so the lock is taken only if
// somebody has (thread.life):
//
//	end:      gen = 0;    take the VP (compare-and-swap);  asked? lock, wake joiners
//	outsider: asked = 1;  lock (compare-and-swap);         gen as in the handle? alive
//
// Both first write, then pass a full barrier, then read: either the outsider finds
// that the thread has ended, or end waits for the lock. asked may be left over from
// the thread that had the descriptor before: then the lock is taken for nothing.
func (c *co) end(t *thread) {
	number := t.gen
	storeRel64(&t.gen, 0)
	c.enter()
	v := c.l.vp
	if r := v.trace.Load(); r != nil {
		r.ended(t, number)
	}
	c.cur = nil
	t.co, t.body = nil, nil
	if atomic.LoadUint32(&t.asked) != 0 {
		t.mu.Lock()
		w := t.joiners.PopAll()
		storeRel(&t.asked, 0)
		t.mu.Unlock()
		c.WakeAll(w)
	}
	if x := t.x.Load(); x != nil {
		c.l.id &^= firmBit
		c.leaveBubble(t, x)
		v.bury(x)
	} else {
		v.recycle(t)
	}
	storeRel64(&v.ended, v.ended+1)
}

// died is for a thread that panicked: run finishes it. Unless its creator asked for the panic as
// Join's error, the program dies as from any other goroutine, with this
// thread's stack: from a fresh goroutine, for iter.Pull would recover it here
// and show it on a bystander.
func (c *co) died(x any, stack []byte) {
	t := c.cur
	if t == nil { // the scheduler itself, between two threads
		go func() { panic(&PanicError{Thread: "the scheduler", Value: x, Stack: stack}) }()
		select {}
	}
	e := &PanicError{Thread: t.title(), Value: x, Stack: stack}
	if !t.catches() {
		go func() { panic(e) }()
		select {}
	}
	if x := t.x.Load(); x.err == nil || x.err == ErrCanceled { // else what it called at its end has panicked, too
		x.err = e
	}
}

// exited is for a thread that called Goexit: run finishes it. If c has no
// thread, then it was parked in the slot of a runner that ended in this way, and iter.Pull passed
// the Goexit on to it: it has just been switched to.
func (c *co) exited() {
	c.depth++
	if c.cur != nil {
		return
	}
	runtime.LockOSThread()
	c.land()
}
