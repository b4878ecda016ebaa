package sched

import (
	"slices"

	"github.com/pm2-go/pm2/asm"
)

// A runner is worn when many threads have ended by Goexit on it: each has left
// frames on its stack, and only the runner's own end frees them. It can end when
// the one parked in the slot that was made with it, its heir, is idle, for that
// is whom the runtime resumes: another idle runner, worn or not, of this VP or
// of another one, or the base of the LWP.
//
// Until then it lies apart, in vp.worn. A slot holds one coroutine, so there are
// never more worn runners than slots whose guests are busy: threads that are
// alive, and bases. Each time an idle runner goes to rest it sends one worn
// runner, whose heir seems to be idle, to its end.
const (
	maxDepth  = 64   // Goexits that wear a runner out, 512 bytes of stack each
	wornPause = 2000 // ns before a worn runner is tried again in vain
)

// rest parks c, an idle runner, in the pool, and goes on with t, or the base. If
// a worn runner can end it runs first, and t is its heir's.
func (c *co) rest(t *thread) {
	v := c.l.vp
	if w := v.ending(); w != nil {
		w.seed = t
		c.switchTo(&thread{co: w}, opPool)
		return
	}
	c.switchTo(t, opPool)
}

// ending takes a worn runner that can probably end out of v.worn. It looks at one
// each time, in turn.
func (v *vp) ending() *co {
	now := asm.Cycles()
	if now < v.wornAt {
		return nil
	}
	n := len(v.worn)
	v.wornNext++
	i := int(v.wornNext % uint32(n))
	w := v.worn[i]
	// In its own slot it is parked itself: whoever runs it takes that place.
	if w.s != &w.own && !w.own.guestIdles() {
		if i == 0 {
			v.wornAt = now + asm.ToCycles(wornPause)
		}
		return nil
	}
	v.worn[i], v.worn[n-1] = v.worn[n-1], nil
	v.worn = v.worn[:n-1]
	return w
}

// guestIdles is a racy hint.
//
//go:norace
func (s *slot) guestIdles() bool {
	g := s.guest
	return g != nil && g.cur == nil && !g.base
}

// guestAt tells who is parked in s, and where in a pool of which VP it was last seen, a racy hint.
//
//go:norace
func (s *slot) guestAt() (g *co, at uint32, v *vp) {
	if g = s.guest; g != nil {
		if l := g.l; l != nil {
			return g, g.own.at, l.vp
		}
	}
	return nil, 0, nil
}

// succeed ends c, a worn runner, if its heir is idle; the heir goes on with t, if
// there is one.
func (c *co) succeed(t *thread) bool {
	l := c.l
	v := l.vp
	heir := l.base
	if heir.s != &c.own {
		if heir = v.heir(&c.own, 0); heir == nil {
			return false
		}
		heir.l, heir.seed = l, t
	} else if t != nil {
		v.add(t) // the base takes the next one from there
	}
	l.from, l.op = c, opGone
	unregister(c)
	c.quit = true
	return true
}

// heir finds the idle runner that is parked in s and takes it out of its VP's
// pool. If that is another VP's it is borrowed, as thieves do; and it is taken only from a
// pool in which spare have lain unused.
func (v *vp) heir(s *slot, spare int) *co {
	g, at, o := s.guestAt()
	if o == nil || o.sched != v.sched {
		return nil
	}
	if o == v {
		return v.takeIdle(s, g, at)
	}
	old, ok := o.word.borrow()
	if !ok {
		return nil
	}
	var c *co
	if int(o.pool.least) >= spare {
		c = o.takeIdle(s, g, at)
	}
	o.word.giveBack(old)
	if modeOf(old) == free {
		o.nudge(false)
	}
	return c
}

// takeIdle takes out c, the runner that seems to be parked in s, if it is and is idle; at is
// where in the pool it seems to be.
func (v *vp) takeIdle(s *slot, c *co, at uint32) *co {
	if i, ok := v.pool.find(c, at); ok {
		if c.s != s {
			return nil
		}
		return v.pool.takeAt(i)
	}
	if i := slices.Index(v.worn, c); i >= 0 && c.s == s {
		last := len(v.worn) - 1
		v.worn[i], v.worn[last] = v.worn[last], nil
		v.worn = v.worn[:last]
		return c
	}
	return nil
}
