package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/direct"
)

// An ordinary thread comes to the VP's OS thread. To a thread that stays the VP comes, and goes
// away from it at its scheduling points: a pinned thread (Attr.Pinned), which has an OS thread
// of its own for life, and any thread at a moment at which its code has locked the OS thread
// (runtime.LockOSThread, a callback from C), whose LWP stays with it so long.
//
//	held(L) ── a base, on LWP L, finds it ready: L becomes a spare; pass ──► held(P), P roused
//	held(P) ── stay: P's thread waits, yields, ends; it is published ──────► free, kicked
//
// The thread is published before its OS thread sleeps: the one that passes it a VP writes lwp.to and
// gives an order, and P, when it has released its VP, looks at the order it may have got
// already. A pinned thread's lwp has no base: it sleeps in its futex.

// stay is switchTo for a thread that stays: what o says is done for it, its VP goes on with
// others, t first, and it sleeps until it has a VP again, which it holds on return.
func (c *co) stay(t *thread, o op) {
	l := c.l
	v, me := l.vp, c.cur
	if t != nil {
		v.q.putFirst(t)
	}
	atomic.StoreUint32(&c.how, staying)
	switch o {
	case opReady:
		v.requeue(me)
	case opMove:
		v.expel(me)
	case opUnlock:
		l.unlock.Unlock()
	case opLinger:
		v.endLinger(me)
	case opHand:
		if me.mayRun(v) {
			v.post(me)
		} else {
			v.expel(me)
		}
	}
	if o != opHand {
		v.idle.kick() // even without work: a spare is to be idle there
		v.release(l)
	}
	c.awaitVP()
	if !c.stays {
		atomic.StoreUint32(&c.how, ordinary)
	}
}

// awaitVP sleeps until c is passed a VP, which it then holds.
func (c *co) awaitVP() {
	l := c.l
	for l.wake.Load() == 0 {
		futexWait(&l.wake, &l.span)
	}
	l.wake.Store(0)
	c.acquire()
	if l.vp != l.to || l.base == nil && !l.bound {
		l.adopt(l.to)
	}
	if checked {
		c.checkVP()
	}
}

// stayWith is for a switch that was refused because c's code has locked the OS thread: what
// was prepared for d, and t, is taken back.
func (c *co) stayWith(d *co, t *thread) bool {
	l := c.l
	v := l.vp
	o := l.op
	l.from, l.op, l.seed = nil, opNone, nil
	if o != opHand {
		v.cur = c
	}
	if t != nil && d.seed == t {
		d.seed = nil
		v.pool.put(d)
	}
	if l.joiner == c {
		l.joiner = nil
		c.settle(t)
	}
	c.stay(t, o)
	return true
}

// pass gives p, which stays, the VP that l holds, and wakes it. l is a spare already.
func (l *lwp) passTo(p *co) {
	v := l.vp
	storeRel64(&v.tick, v.tick+1)
	p.l.to = v
	p.id = p.l.pass
	v.cur = p
	raceRelease(p.l)
	v.word.passOn(l.id, p.l.id)
	p.l.rouse(toClaim)
}

// adopt: l serves v from now on.
func (l *lwp) adopt(v *vp) {
	s := v.sched
	s.lwps.mu.Lock()
	if l.base != nil {
		l.vp.lwps--
		v.lwps++
	}
	l.comesTo(v)
	s.lwps.mu.Unlock()
	s.bind(l)
}

// comesTo is hidden from the race detector for the sake of a thread that was on l, has lost it
// without having noticed, and looks, by way of it, whether it has its VP: it has neither.
//
//go:norace
func (l *lwp) comesTo(v *vp) { l.vp, l.bound = v, true }

// relock is for a thread whose code has called runtime.UnlockOSThread more often than Hold is for: it may
// have come to another OS thread since, which is the LWP's from now on.
func (l *lwp) relock() {
	direct.Hold()
	if m := direct.Machine(); m != l.m {
		s := l.vp.sched
		s.unbind(int(l.tid.Load()))
		l.m = m
		l.tid.Store(int32(gettid()))
		s.bind(l)
	}
}
