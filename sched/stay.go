package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/direct"
)

// An ordinary thread is switched to on the VP's OS thread. A thread that stays keeps its own OS thread, P: the VP
// comes to P, and leaves it at the thread's scheduling points. Two kinds of threads stay. A pinned
// thread (Attr.Pinned) has an OS thread of its own for life. Any thread stays on its LWP while its code has locked
// the OS thread (runtime.LockOSThread, a callback from C).
//
//	held(L) ── a base, on LWP L, finds the thread ready; passTo: L becomes a spare ──► held(P), P woken
//	held(P) ── stay: P's thread waits, yields or ends ───────────────────────────────► free, kicked
//
// The thread is published, in a queue or as ready, before P sleeps. The LWP that passes it a VP writes lwp.receivedVP
// and gives P an order. P releases its VP, and then looks whether it has got an order already. The lwp of a pinned
// thread has no base: it sleeps in its futex.

// stay is switchTo for a thread that stays. It does for itself what o says, and releases the VP, which runs
// t next, then others. It sleeps until it is passed a VP, which it holds on return.
func (c *co) stay(t *thread, o switchOp) {
	l := c.l
	v := l.vp
	if t != nil {
		v.q.putFirst(t)
	}
	atomic.StoreUint32(&c.resumeAs, staying)
	if o == opHand {
		v.receive(c.cur)
	} else {
		l.previous, l.op = c, o
		l.finish()
		l.previous, l.op = nil, opNone
		v.idle.kick() // even without work: a spare is to be idle there
		v.release(l)
	}
	c.awaitVP()
	if !c.stays {
		atomic.StoreUint32(&c.resumeAs, ordinary)
	}
}

// awaitVP sleeps until c is passed a VP, which it then holds.
func (c *co) awaitVP() {
	l := c.l
	for l.wake.Load() == 0 {
		futexWait(&l.wake, &l.sleepState)
	}
	l.wake.Store(0)
	c.acquire()
	if l.vp != l.receivedVP || l.base == nil && !l.hadVP {
		l.adopt(l.receivedVP)
	}
	if checked {
		c.checkVP()
	}
}

// stayWith is for a switch from c to d that was refused because c's code has locked the OS thread. It takes back
// what switchTo has prepared for d and t, and then stays.
func (c *co) stayWith(d *co, t *thread) bool {
	l := c.l
	v := l.vp
	o := l.op
	l.previous, l.op, l.seed = nil, opNone, nil
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

// passTo passes the VP that l holds to p, which stays, and wakes p's OS thread. l is a spare already.
func (l *lwp) passTo(p *co) {
	v := l.vp
	storeRel64(&v.tick, v.tick+1)
	p.l.receivedVP = v
	p.id = p.l.coID
	v.cur = p
	raceRelease(p.l)
	v.word.passOn(l.id, p.l.id)
	p.l.wakeWith(toClaim)
}

// adopt makes v the VP that l serves from now on, and binds l to its CPU.
func (l *lwp) adopt(v *vp) {
	s := v.sched
	s.lwps.mu.Lock()
	if l.base != nil {
		l.vp.numLWPs--
		v.numLWPs++
	}
	l.setVP(v)
	s.lwps.mu.Unlock()
	s.bind(l)
}

// setVP sets l.vp, hidden from the race detector: a thread that has lost l without having noticed reads l.vp to see
// whether it still has its VP. What it reads does not matter, since its co.id says that it has lost both.
//
//go:norace
func (l *lwp) setVP(v *vp) { l.vp, l.hadVP = v, true }

// relock locks the OS thread again for a thread whose code has called runtime.UnlockOSThread so often that
// Hold's lock is gone. The thread may run on another OS thread by now: that is the LWP's from then on.
func (l *lwp) relock() {
	direct.Hold()
	if m := direct.Machine(); m != l.osThread {
		s := l.vp.sched
		s.unbind(int(l.tid.Load()))
		l.osThread = m
		l.tid.Store(int32(gettid()))
		s.bind(l)
	}
}
