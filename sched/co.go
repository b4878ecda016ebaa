package sched

import (
	"iter"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// slot holds exactly one parked coroutine. It is the pair of functions of one
// iter.Pull: calling next (or yield, if the one parked there called next) parks
// the caller in its place and runs it, on the same OS thread and without the Go
// scheduler. Any goroutine may do so: the slots are places, not owners.
type slot struct {
	next   func() (struct{}, bool)
	yield  func(struct{}) bool
	inNext bool   // the one parked here is in next
	at     uint32 // where the runner that was made with it is in a pool, if it is in one
	guest  *co    // the one parked here; a hint for who does not hold its VP
}

// Co is what the calling goroutine is to the scheduler: a coroutine on which a
// thread runs. Nil stands for a plain goroutine, and every method takes it.
type Co = co

// co is a coroutine: a runner, or the base of an LWP.
type co struct {
	s     *slot   // where it is parked, or was last
	l     *lwp    // where it runs; set by whoever switches to it
	cur   *thread // what it runs
	pin   *pinned // not nil: a pinned thread's goroutine, which does not switch
	host  *pinned // not nil: it stands for that one's thread, its proxy
	outer *thread // which called that, and is called by its link: see inline.go
	seed  *thread // what to run first, set by whoever switches to it
	away  bool    // in Blocking, without its VP
	quit  bool    // it is to end
	base  bool
	depth uint32 // Goexits survived, each still on the stack

	g   uintptr // its goroutine; 0: it has not begun
	own slot    // made with it; unused by a base

	notes atomic.Pointer[notes] // nil: nobody has asked for any
}

// op is what the next one does for the one that has just left.
type op uint8

const (
	opNone   op = iota // nothing: it is the base, or has been queued already (vp.swap)
	opReady            // it yielded: enqueue it
	opPool             // it is a runner without a thread
	opWorn             // the same, which is to end when it can
	opUnlock           // it waits in a queue whose lock it holds
	opLinger           // the same, but it has unlocked it already: see linger.go
	opHand             // it lost its VP: the base posts it
	opMove             // it may not run on this VP any more: send it to another
	opPass             // it is a pinned thread's proxy: the base passes the VP on
	opGone             // it has ended (nobody is left to finish for)
)

// Enter begins an operation of the calling thread: from here to Leave it holds
// its VP, which nobody can take. It may wait for the VP, so a hand-off is
// invisible to what follows. On a plain goroutine it returns nil. Nothing in
// between may block except Wait, nor run code of users.
func Enter() *Co {
	var c *co // lookup, repeated
	g := asm.G()
	if e := gTab.Load().first(g); e.g.Load() == g {
		c = e.c
	} else if c = probe(g); c == nil {
		return nil
	}
	if l := c.l; !l.vp.word.tryEnter(l.id) {
		return c.comeBack()
	}
	return c
}

// Visit is Enter for what must not block, such as releasing a semaphore: a thread
// that has lost its VP is an outsider, as a goroutine is, and does not wait until
// it has the VP back. Wait is not allowed before Leave.
func Visit() *Co {
	var c *co // lookup, repeated
	g := asm.G()
	if e := gTab.Load().first(g); e.g.Load() == g {
		c = e.c
	} else if c = probe(g); c == nil {
		return nil
	}
	if l := c.l; l.vp.word.tryEnter(l.id) { // of a base it never is in user mode
		return c
	}
	return c.visit()
}

// visit is the rest of Visit for who does not get its VP at once.
func (c *co) visit() *co {
	if c.base {
		return nil
	}
	l := c.l
	for n := 1; !l.vp.word.tryEnter(l.id); n++ {
		if l.vp.word.load() != l.id<<2|uint32(lent) {
			return nil
		}
		if relax(); n%spinsPerYield == 0 {
			osYield() // a thief gives it back in a moment
		}
	}
	return c
}

// Leave ends what Enter or Visit began.
func (c *co) Leave() {
	if c != nil {
		c.l.vp.word.leave(c.l.id)
	}
}

// enter is Enter for a coroutine that knows itself.
func (c *co) enter() {
	if !c.l.vp.word.tryEnter(c.l.id) {
		c.comeBack()
	}
}

// comeBack: the VP is not ours for the moment. A thief gives it back in a
// moment; else it was given away by Blocking, or seized: take it if it is free,
// or park until it runs us again. A base is no thread: nil.
func (c *co) comeBack() *co {
	if c.base {
		return nil
	}
	v := c.l.vp
	mine := c.l.id<<2 | uint32(user)
	for n := 1; ; n++ {
		switch v.word.load() {
		case mine:
			if v.word.tryEnter(c.l.id) {
				return c
			}
			continue
		case mine | uint32(lent):
			if relax(); n%spinsPerYield == 0 {
				osYield()
			}
			continue
		}
		break
	}
	if c.away {
		c.away = false
		v.away.Add(-1)
	} else {
		v.robbed.Add(-1)
		c.l.regained()
	}
	if c.cur.belongs(v) && v.claim(c.l) {
		if r := v.trace.Load(); r != nil {
			r.mark(TraceRun, c.cur, uint64(c.l.id), 0)
		}
		c.l.setSlice(sliceVP)
	} else {
		c.switchTo(nil, opHand)
	}
	return c
}

// switchTo parks c and runs t, or the base if nil; c holds its VP. Every level
// of calls between a thread and its switch costs a mispredicted return, so Yield,
// Wait and a runner's loop repeat the lines around the switch.
func (c *co) switchTo(t *thread, o op) {
	if c.pin != nil {
		c.pin.swap(t, o)
		return
	}
	s := c.depart(t, o)
	letGo()
	if s.inNext {
		s.next()
	} else {
		s.yield(struct{}{})
	}
	runtime.LockOSThread()
	c.land()
	if c.base {
		c.l.look()
	}
}

// depart prepares the switch and returns the slot of the one that runs next.
func (c *co) depart(t *thread, o op) *slot {
	l := c.l
	d := l.base
	if t != nil {
		if d = t.co; d == nil {
			d = c.runner()
			d.seed = t // which the runner counts, or the base takes up
		} else {
			storeRel64(&l.vp.tick, l.vp.tick+1)
			if t.woken != 0 || l.vp.trace.Load() != nil {
				l.vp.noted(t, l)
			}
		}
	}
	l.from, l.op = c, o
	l.id &^= firmBit
	d.l = l
	s := d.s
	c.s, s.guest = s, c
	s.inNext = !s.inNext
	return s
}

// noted does what depart does now and then for t, which v runs next, on l. Holder only.
func (v *vp) noted(t *thread, l *lwp) {
	if t.woken != 0 {
		v.ran(t)
	}
	if r := v.trace.Load(); r != nil {
		r.mark(TraceRun, t, uint64(l.id), 0)
	}
}

const (
	// landsPerLook: how often a thread that lands looks where it is.
	landsPerLook = 16
	// looksPerYield: how many such looks pass before the kernel may run an LWP that is back
	// from its system call and waits for this CPU in order to say so.
	looksPerYield = 64
)

// land runs first after a switch: it finishes for the one that left, which is parked now
// and may be published, and sees now and then where we are. It is inlined; for a thread
// that has changed places with another one (vp.swap) mostly nothing is left of it.
func (c *co) land() {
	l := c.l
	if l.lands--; l.op != opNone || l.lands <= 0 {
		l.settle()
	}
}

// settle is the rest of land.
func (l *lwp) settle() {
	if l.op == opUnlock { // in the switch statement of finish it measures 4 ns slower
		l.unlock.Unlock()
	} else if l.op != opNone {
		l.finish()
	}
	if l.lands <= 0 {
		l.look()
		if l.looks++; l.looks%looksPerYield == 0 && l.vp.away.Load() != 0 {
			osYield()
		}
	}
}

// finish is the rarer half of settle.
func (l *lwp) finish() {
	f := l.from
	switch l.op {
	case opReady, opMove:
		l.vp.requeue(f.cur)
	case opPool:
		l.vp.pool.put(f)
	case opWorn:
		l.vp.worn = append(l.vp.worn, f)
	case opLinger:
		l.vp.endLinger(f.cur)
	case opHand:
		l.handed = f.cur
	case opPass:
		l.passed = f.host
	}
}

// look: is this still the OS thread we think? That is for the binding alone, so a few
// threads may run elsewhere before one of them sees it; the base, which sleeps and gives
// the VP on, looks whenever it lands.
func (l *lwp) look() {
	l.lands = landsPerLook
	if asm.ThreadID() != l.osThread {
		l.rebind()
	}
}

// resumed ends an operation that has switched.
func (c *co) resumed() {
	l := c.l
	v := l.vp
	v.word.leave(l.id)
	t := c.cur
	if !v.sched.hooks.Silent(hooks.Switch) || t.x.Load() != nil {
		c.goOn()
	}
	t.w.kind = InOther // not before: goOn asks what the wait was
}

// goOn is what few threads have to do in resumed.
func (c *co) goOn() {
	v := c.l.vp
	if !v.sched.hooks.Silent(hooks.Switch) {
		v.fireSwitch()
	}
	if x := c.cur.x.Load(); x != nil {
		c.back(x)
	}
}

// runner takes a coroutine from the pool for a fresh thread. If there is none the
// base is to make one: made here it would have the stack of the thread that leaves
// outgrow Go's first 2 KiB, for as long as that is parked.
func (c *co) runner() *co {
	v := c.l.vp
	if d := v.pool.take(); d != nil {
		return d
	}
	if !c.base {
		return c.l.base
	}
	for n := min(v.pool.made/8, runnersAhead); n > 0; n-- {
		v.pool.put(c.newRunner())
	}
	return c.newRunner()
}

// runnersAhead bounds the runners that a VP makes at once beside the one that it needs,
// one for every eight that it has made, so that the next threads need not switch to the
// base for theirs. They have not begun yet.
const runnersAhead = 31

// newRunner makes a coroutine, unlocked, so that its slot is tied to no OS
// thread. It starts when somebody first switches to it.
func (c *co) newRunner() *co {
	d := &co{}
	d.s, d.own.guest = &d.own, d
	c.l.vp.pool.made++
	runtime.UnlockOSThread()
	d.own.next, _ = iter.Pull(d.life())
	runtime.LockOSThread()
	if asm.ThreadID() != c.l.osThread {
		c.l.rebind()
	}
	return d
}
