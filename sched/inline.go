package sched

import "runtime/debug"

// A seed that was spawned with Attr.Inline is run by its joiner as a call, if it
// has not started when Join looks: on the joiner's coroutine, without a switch.
//
//	queued on VP v ─ pop: as any other seed ───────────────► started, on a runner
//	queued on VP v ─ withdraw: its joiner, holding v ──────► called
//	called ───────── returns, or panics and is caught ─────► ended; Join returns
//	called ───────── Goexit ───────────────────────────────► ended; so does its joiner
//
// Only the holder of v takes something out of v's queue, so whoever finds the seed
// there and holds v owns it: no state has to change hands. A called thread is a
// thread in every respect (Self, waiting, keys, its end), but that while it
// lives its joiner's coroutine is in use: it inherits the VPs on which that may
// run, and if it moves, both do. Its joiner stands in co.outer meanwhile: neither
// ready nor waiting.

// inlineLook is how many places from either end of the run queue a joiner looks
// for the seed. Joins in the order of the spawns, or in the opposite one, find it
// in the first place.
const inlineLook = 16

// SpawnInline is Spawn for a thread that whoever joins it may run: a thread that
// joins it before it has started calls fn on its own stack, which costs a
// fraction of two switches. Joiner and joined then share stack, VP and fate: if
// fn calls Exit or runtime.Goexit (or t.FailNow), or is cancelled, the joiner
// ends, too; what fn holds, such as a Mutex that the joiner goes for, is held by
// one that cannot go on in the other's place. Otherwise it is a thread as any
// other: it runs in its turn if nobody joins it, and Self is its handle wherever
// it runs.
func SpawnInline(fn func()) Thread { return SpawnInlineBody(plain(fn)) }

// SpawnInlineBody is SpawnInline for a body that has its data with it: where a closure
// would have to be allocated.
func SpawnInlineBody(b Body) Thread {
	check(b)
	c := Enter()
	if c == nil {
		return Default().spawn(nil, Attr{Inline: true}, b)
	}
	v := c.l.vp
	t := v.descriptor()
	t.body, t.vp, t.w.inline = b, v, true
	h := Thread{t, t.gen}
	storeRel64(&v.born, v.born+1)
	v.ready(t, true)
	v.word.leave(c.l.id)
	return h
}

// mayCall is a racy hint; withdraw decides.
//
//go:norace
func (t *thread) mayCall() bool { return t.w.inline }

// withdraw takes h's thread, if it is a seed that may be called, out of the queue
// of the VP that c holds; false: it is not there, or not near its ends.
func (c *co) withdraw(h Thread) bool {
	v := c.l.vp
	if v.inbox.Load() != nil {
		v.collect()
	}
	return v.q.withdraw(h.t, inlineLook) && (h.t.w.inline && h.t.co == nil && h.t.gen == h.gen || v.putBack(h.t))
}

// putBack: t is another life than the one that was looked for.
func (v *vp) putBack(t *thread) bool {
	v.q.add(t)
	return false
}

// call runs the seed t, withdrawn from the queue, for the calling thread, which
// holds its VP.
func (c *co) call(t *thread) {
	me := c.cur
	t.co = me.co
	t.inherit(me.set.Load())
	me.link, c.outer = c.outer, me
	c.cur = t
	v := c.l.vp
	storeRel64(&v.tick, v.tick+1)
	c.l.id &^= firmBit
	v.word.leave(c.l.id)
	if x := t.x.Load(); x != nil {
		c.renew(x)
	}
	c.callBody(t)
}

// inherit: t may run where both its set and that of its joiner let it; the VP it is
// on is such a one.
func (t *thread) inherit(set *VPSet) {
	if set == nil {
		return
	}
	if own := t.set.Load(); own != nil {
		both := set.And(*own)
		set = &both
	}
	t.confine(set)
}

func (c *co) callBody(t *thread) {
	over := false
	defer func() {
		if over {
			return
		}
		if x := recover(); x != nil {
			c.died(x, debug.Stack())
		}
		c.wind(t) // and if it was no panic, the Goexit goes on in the joiner
	}()
	if a := around.Load(); a != nil {
		a.call(Thread{t, t.gen}, t.body.Run)
	} else if f, ok := t.body.(plain); ok {
		f()
	} else {
		t.body.Run()
	}
	over = true
	if t.x.Load() != nil {
		c.wind(t)
		return
	}
	c.called(t)
}

// wind makes the calls that t wanted at its end, whether these return or not, and
// ends it.
func (c *co) wind(t *thread) {
	over := false
	defer func() {
		if over {
			return
		}
		if x := recover(); x != nil {
			c.died(x, debug.Stack())
		}
		c.wind(t)
	}()
	if x := t.x.Load(); x != nil {
		c.conclude(x)
	}
	over = true
	c.called(t)
}

// called ends t, and its joiner goes on.
func (c *co) called(t *thread) {
	c.end(t)
	v := c.l.vp
	me := c.outer
	c.cur, c.outer = me, me.link
	me.link, me.vp = nil, v
	if me.mayRun(v) {
		c.l.id &^= firmBit
		v.word.leave(c.l.id)
	} else {
		c.move()
	}
	if x := me.x.Load(); x != nil {
		c.renew(x)
	}
}

// encloses tells whether t waits for the calling thread to return into it.
func (c *co) encloses(t *thread) bool {
	for o := c.outer; o != nil; o = o.link {
		if o == t {
			return true
		}
	}
	return false
}
