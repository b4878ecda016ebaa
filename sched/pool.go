package sched

import (
	"runtime"
	"sync/atomic"
)

// pool holds the idle runners of a VP: coroutines without a thread, each with its stack.
// The one that came last goes first. It is the VP's private state: the holder's, or
// who has borrowed the VP.
//
// A pool that is larger than its VP needs shrinks by its low-water mark, as those of
// allocators do: runners that lay there unused for a whole Config.SpareTime are surplus, but for
// Config.SpareRunners of them. Half of the surplus, and all of a small one, ends; a program
// that needs a crowd of them again and again keeps them. The clock says when, and the VP does
// it while it has nothing else to do, one runner at a time:
//
//	quiet ── clock, once in SpareTime, if the pool is large: due = 1, kick ──► due
//	due ──── the base, idle: due = 0; quota = half of what lay unused,
//	         least = what is there now ─────────────────────────────────────► trimming, or quiet if that is none
//	trimming ── the base, idle: one runner ends, quota-- ───────────────────► trimming
//	trimming ── quota is 0, or none of those in the pool can end: close ────► quiet
//	trimming ── work comes: the base looks for it before each runner ───────► the same; it goes on when it is idle again
//
// For a runner's end see dismiss. It cannot end while a live thread is parked in the slot
// that was made with it; a slot holds one, so what must stay for that reason is never more
// than threads are alive.
type pool struct {
	idle  []*co
	least int32 // of them since due was seen last: the low-water mark
	made  int32 // runners that the VP has made, less those that have ended here
}

// trimming is what is known of the end of a pool's surplus. It lies apart from what the
// hot paths touch.
type trimming struct {
	quota int           // how many are to end
	next  int           // the place of the one to look at next for that
	went  bool          // one has ended since due was seen last
	ended uint64        // in all
	due   atomic.Uint32 // 1: the base is to see how many are surplus; the clock's
	vain  atomic.Uint32 // how many times the clock is to pass over this pool, none of whose runners could end
}

const (
	defaultSpareRunners = 256
	smallSurplus        = 256 // which ends at once
	dismissLooks        = 64  // runners looked at before the VP looks for work again
	maxVain             = 31  // periods
)

// put adds c.
func (p *pool) put(c *co) {
	c.own.at = uint32(len(p.idle))
	p.idle = append(p.idle, c)
}

// take takes the one that came last; nil: there is none.
func (p *pool) take() *co {
	n := len(p.idle) - 1
	if n < 0 {
		return nil
	}
	c := p.idle[n]
	p.idle = p.idle[:n]
	if int32(n) < p.least {
		p.least = int32(n)
	}
	return c
}

// takeAt takes the one at place i, where the last one goes.
func (p *pool) takeAt(i int) *co {
	c := p.idle[i]
	if last := p.take(); last != c {
		p.idle[i] = last
		last.own.at = uint32(i)
	}
	return c
}

// find returns the place of c, which perhaps is not here; at is where it seems to be.
func (p *pool) find(c *co, at uint32) (i int, ok bool) {
	return int(at), int(at) < len(p.idle) && p.idle[at] == c
}

// assess begins a period of p: it sets the quota by what lay unused in the last one.
func (w *trimming) assess(p *pool, spare int) {
	w.due.Store(0)
	surplus := int(p.least) - spare
	w.quota = 0
	if surplus > 0 {
		w.quota = max((surplus+1)/2, min(surplus, smallSurplus))
	}
	p.least = int32(len(p.idle))
	w.next, w.went = 0, false
}

// close ends a trimming: the pool takes no more room than it needs.
func (w *trimming) close(p *pool) {
	w.quota = 0
	if !w.went {
		w.vain.Store(min(2*w.vain.Load()+1, maxVain))
		return
	}
	w.vain.Store(0)
	if cap(p.idle) > 4*len(p.idle) {
		p.idle = append(make([]*co, 0, 2*len(p.idle)), p.idle...)
	}
	shrinkGTable()
}

// size is a racy hint.
//
//go:norace
func (p *pool) size() int { return len(p.idle) }

// surplusRunners tells whether v has so many idle runners that some may be surplus, a racy hint.
func (v *vp) surplusRunners() bool {
	most := v.sched.cfg.SpareRunners
	return most >= 0 && v.pool.size() > most
}

// trimRunners has v see which of its idle runners are surplus, unless nothing came of that
// lately. The clock's.
func (v *vp) trimRunners() {
	if n := v.trimming.vain.Load(); n > 0 {
		v.trimming.vain.Store(n - 1) // a race with close makes it a period more or less
		return
	}
	v.trimming.due.Store(1)
	v.kick() // also if it is held: its LWP may have looked for the last time before it sleeps
}

// trims tells whether idle runners of v are to end.
func (v *vp) trims() bool { return v.trimming.due.Load() != 0 || v.trimming.quota > 0 }

// trim ends an idle runner of l's VP that is surplus, if one can end; l is the holder,
// and idle. It returns after a switch, perhaps after other threads have run, and perhaps
// without the VP.
func (l *lwp) trim() {
	p, w := &l.vp.pool, &l.vp.trimming
	if w.due.Load() != 0 {
		w.assess(p, l.vp.sched.cfg.SpareRunners)
	}
	for n := 0; n < dismissLooks && w.quota > 0; n++ {
		if w.next >= len(p.idle) {
			w.close(p)
			return
		}
		if l.dismiss(p.idle[w.next]) {
			return // perhaps without the VP
		}
		w.next++
	}
}

// dismiss ends w, a runner in the pool of l's VP, if it can end. When it returns, the runtime
// resumes its heir, the one that is parked in the slot that was made with it. So either w
// is parked there itself, and the base, which runs it once more, takes that place;
// or the heir is another idle runner, which leaves its pool for that:
//
//	base ── parks in w's place ──► w ── returns ──► the heir ── takes a thread, or
//	goes to the pool of this VP ──► that thread, or the base
func (l *lwp) dismiss(w *co) bool {
	v := l.vp
	if w.s != &w.own {
		heir := v.heir(&w.own, v.sched.cfg.SpareRunners)
		if heir == nil {
			return false
		}
		heir.l = l
	} else if w.depth > 0 {
		return false // it would pass its Goexit on to the base
	}
	v.pool.takeAt(int(w.own.at)) // not before: the heir may have been in this pool, too
	unregister(w)
	w.quit, w.l = true, l
	v.pool.made = max(v.pool.made-1, 0)
	v.trimming.quota--
	v.trimming.went = true
	count(&v.trimming.ended, 1)
	if v.trimming.quota == 0 {
		v.trimming.close(&v.pool)
	}

	b, s := l.base, w.s // as depart and switchTo do, but w is no thread
	b.s, s.guest = s, b
	s.inNext = !s.inNext
	l.from, l.op = b, opNone
	l.id &^= firmBit
	letGo()
	if s.inNext {
		s.next()
	} else {
		s.yield(struct{}{})
	}
	runtime.LockOSThread()
	b.land()
	l.look()
	return true
}
