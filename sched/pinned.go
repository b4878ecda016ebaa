package sched

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/direct"
)

// A pinned thread has an OS thread of its own: a goroutine that is locked to it for ever, to which the VP comes
// (stay.go).
//
//	ready, seed ── a runner finds it: pin makes its LWP and goroutine; queued again ───► ready, staying
//	ready, staying ── a base passes it its VP ─────────────────────────────────────────► runs
//	its code ends ── end, the VP goes on, its goroutine and OS thread end ─────────────► ended

// pin makes the LWP and the goroutine of t, a pinned thread that has not begun and that the runner c was about to run,
// and queues t again. If Config.MaxLWPs allows no further LWP it returns false: x has the error of Join, and the caller
// runs t, which ends at once.
func (c *co) pin(t *thread, x *extras) bool {
	s := t.home()
	l, err := s.pinLWP()
	if err != nil {
		x.err = err
		t.body = funcBody(func() {})
		return false
	}
	p := &co{inside: isIn, id: lostID, resumeAs: staying, l: l, cur: t, stays: true}
	raceBirth()
	t.co, c.cur = p, nil
	raceRelease(l)
	go p.livePinned()
	c.l.vp.requeue(t)
	return true
}

// livePinned is the life of a pinned thread's goroutine.
func (c *co) livePinned() {
	c.acquire()
	l := c.l
	s := l.vp.sched
	defer s.lwps.done.Done()
	direct.Hold() // it ends locked, so its OS thread ends with it
	if s.leaveFirstThread(c.livePinned) {
		return
	}
	direct.Unlabel()
	c.registerSelf()
	l.attach()
	defer func() {
		s.unbind(int(l.tid.Load()))
		s.lwps.remove(l)
	}()
	c.awaitVP()
	storeRel(&c.inside, c.inUser)
	c.runPinned(true)
}

// runPinned runs the thread's code if begin is set, then makes the calls at the end of the thread, even if one of them
// panics or exits; at last it releases the VP.
func (c *co) runPinned(begin bool) {
	over := false
	defer func() {
		if over {
			return
		}
		if x := recover(); x != nil {
			c.reportPanic(x, debug.Stack())
		}
		c.runPinned(false) // with the calls that are left
	}()
	if t := c.cur; t != nil {
		if begin {
			c.call(t, t.extras.Load())
		}
		c.runEndCalls(t.extras.Load())
		c.end(t)
	}
	over = true
	unregister(c)
	v := c.l.vp
	v.idle.kick()
	v.release(c.l)
}

// stayHere makes an LWP for a thread that has lost its own and has locked the OS thread on which it runs as a
// goroutine: until its end the thread behaves as a pinned one. If Config.MaxLWPs allows no further LWP stayHere returns
// false, and the thread goes on on the OS threads of LWPs.
func (c *co) stayHere() bool {
	l, err := c.cur.home().pinLWP()
	if err != nil {
		return false
	}
	direct.Hold() // whatever its code unlocks
	c.l, c.stays = l, true
	atomic.StoreUint32(&c.resumeAs, staying)
	l.attach()
	raceRelease(l)
	return true
}

// vacate ends what stayHere began: the runner releases its VP, and ends as a goroutine.
func (c *co) vacate() {
	l := c.l
	v := l.vp
	if t := c.takeJoiner(); t != nil {
		v.q.putFirst(t)
	}
	unregister(c)
	c.ending = true
	v.idle.kick()
	v.release(l)
	s := v.sched
	s.unbind(int(l.tid.Load()))
	s.lwps.remove(l)
	direct.Unhold()
	s.lwps.done.Done()
}
