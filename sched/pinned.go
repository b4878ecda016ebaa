package sched

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// pinned is a thread with an OS thread of its own: a goroutine that is locked to
// it for ever. An ordinary thread comes to the VP's OS thread; to this one the VP
// comes, and goes away from it at its scheduling points. For whoever switches
// nothing differs: the thread's coroutine (thread.co) is a proxy, a runner that
// takes the VP over and has it passed on.
//
//	a switch to the proxy, on LWP L ─ opPass: back to L's base ─► held(L)
//	held(L) ── pass: L, which is a spare then ─────────────────► user(P), P roused
//	user(P) ── enter, leave, seize, borrow: as of any LWP ─────► ...
//	held(P) ── swap: P waits, yields, or has ended ────────────► free, kicked: a spare claims it
//
// P is an lwp without a base: it has an id for the word, and sleeps in its futex.
// The pass comes when the proxy is parked, and swap publishes the thread (makes it
// ready, unlocks the queue it waits in) before P sleeps: that is right because P
// looks at an order it may have got already, and touches no field that the pass
// writes (to) before. If P has been seized until it wakes it enters as anybody
// whose VP was taken: it makes itself ready, and sleeps.
//
// The end: P calls what its thread wants at its end, makes the thread ready and
// ends, with its OS thread; the proxy, switched to once more, returns as the
// function of an ordinary thread would, is finished, and is a runner again.
type pinned struct {
	c      *co // P's, on its goroutine; its l is P
	body   Body
	to     *vp // the VP passed; written before P is roused
	over   bool
	asleep atomic.Bool // a hint: it has no VP and waits for one
}

// Run is what the proxy does, as the body of the thread, on its coroutine.
func (p *pinned) Run() {
	c := lookup()
	s := c.l.vp.sched
	l, err := s.pin()
	if err != nil {
		c.cur.x.Load().err = err
		return
	}
	p.asleep.Store(true)
	p.c = &co{l: l, cur: c.cur, pin: p}
	c.host = p
	go p.main()
	c.enter()
	for !p.over {
		c.switchTo(nil, opPass)
	}
	c.host = nil
	c.Leave()
}

// pass gives P the VP that l holds, and wakes it. l is a spare already.
func (p *pinned) pass(v *vp) {
	p.to = v
	v.word.leave(p.c.l.id)
	p.c.l.rouse(toClaim)
}

// main is the life of P.
func (p *pinned) main() {
	l := p.c.l
	s := l.vp.sched
	defer s.lwps.done.Done()
	runtime.LockOSThread()              // it ends locked, so its OS thread ends with it
	if unix.Gettid() == unix.Getpid() { // the process's first thread cannot end
		s.lwps.done.Add(1)
		started := make(chan struct{})
		go func() { close(started); p.main() }()
		<-started
		runtime.UnlockOSThread()
		return
	}
	register(p.c)
	if s.cfg.Watchdog > 0 {
		p.c.noting().goroutine = number()
	}
	l.tid.Store(int32(unix.Gettid()))
	claimThread(int(l.tid.Load()), true)
	defer func() {
		claimThread(int(l.tid.Load()), false)
		s.unpin(l)
	}()
	p.sleep()
	p.c.Leave()
	p.run()
}

// run runs the thread's code; in whichever way that ends, wind follows.
func (p *pinned) run() {
	over := false
	defer func() {
		if over {
			return
		}
		if x := recover(); x != nil {
			p.c.died(x, debug.Stack())
		}
		p.wind()
	}()
	x := p.c.cur.x.Load()
	p.c.renew(x)
	if a := around.Load(); a != nil {
		a.call(Thread{p.c.cur, x.id}, p.body.Run)
	} else {
		p.body.Run()
	}
	over = true
	p.wind()
}

// wind makes the calls that the thread wants at its end, and ends P.
func (p *pinned) wind() {
	over := false
	defer func() {
		if over {
			return
		}
		if x := recover(); x != nil {
			p.c.died(x, debug.Stack())
		}
		p.wind()
	}()
	p.c.conclude(p.c.cur.x.Load())
	over = true
	p.c.enter()
	p.over = true
	unregister(p.c)
	v := p.c.l.vp
	v.requeue(p.c.cur)
	p.giveOn(v)
}

// swap is the switch of a pinned thread: what o says is done for it, its VP goes
// on with others, t first, and P sleeps until it has a VP again, which it holds on
// return.
func (p *pinned) swap(t *thread, o op) {
	l := p.c.l
	v, me := l.vp, p.c.cur
	l.id &^= firmBit
	if t != nil {
		v.q.putFirst(t)
	}
	p.asleep.Store(true)
	switch o {
	case opReady:
		v.requeue(me)
	case opMove:
		v.expel(me)
	case opUnlock:
		l.unlock.Unlock()
	case opHand:
		if me.mayRun(v) {
			v.post(me)
		} else {
			v.expel(me)
		}
		p.sleep()
		l.setSlice(sliceVP)
		return
	}
	p.giveOn(v)
	p.sleep()
}

// giveOn releases v, which P holds, to a spare.
func (p *pinned) giveOn(v *vp) {
	v.kicked.Store(1) // even without work: somebody is to be idle there
	v.release()
}

// sleep waits for a VP.
func (p *pinned) sleep() {
	l := p.c.l
	for l.wake.Load() == 0 {
		futexWait(&l.wake)
	}
	l.wake.Store(0)
	p.asleep.Store(false)
	if l.vp != p.to || l.osThread == 0 {
		l.vp = p.to
		l.osThread = 1 // bound once
		l.vp.sched.bind(l)
	}
	p.c.enter()
}

// pin makes the lwp of a pinned thread; a LimitError if there are too many.
func (s *Scheduler) pin() (*lwp, error) {
	r := &s.lwps
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := int(r.n.Load()); n+s.reserved(nil) >= s.cfg.MaxLWPs {
		r.short.Add(1)
		return nil, &LimitError{-1, n}
	}
	l := &lwp{id: r.newID(), vp: s.vps[0]}
	r.slots()[l.id-1].Store(l)
	r.peak.Store(max(r.peak.Load(), r.n.Add(1)))
	r.done.Add(1)
	return l, nil
}

// unpin gives back what pin took.
func (s *Scheduler) unpin(l *lwp) {
	r := &s.lwps
	r.mu.Lock()
	r.slots()[l.id-1].Store(nil)
	r.free = append(r.free, l.id)
	r.n.Add(-1)
	r.full = false
	r.mu.Unlock()
}
