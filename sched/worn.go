package sched

import "github.com/pm2-go/pm2/asm"

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

// guestVP is where the guest was last seen, a racy hint.
//
//go:norace
func (s *slot) guestVP() *vp {
	if g := s.guest; g != nil {
		if l := g.l; l != nil {
			return l.vp
		}
	}
	return nil
}

// succeed ends c, a worn runner, if its heir is idle; the heir goes on with t, if
// there is one.
func (c *co) succeed(t *thread) bool {
	l := c.l
	v := l.vp
	heir := l.base
	if heir.s != &c.own {
		if heir = v.heir(&c.own); heir == nil {
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
// pool. If that is another VP's it is borrowed, as thieves do.
func (v *vp) heir(s *slot) *co {
	o := s.guestVP()
	if o == nil || o.sched != v.sched {
		return nil
	}
	if o == v {
		return v.takeIdle(s)
	}
	old, ok := o.word.borrow()
	if !ok {
		return nil
	}
	c := o.takeIdle(s)
	o.word.giveBack(old)
	if modeOf(old) == free {
		o.nudge(false)
	}
	return c
}

func (v *vp) takeIdle(s *slot) *co {
	for _, list := range []*[]*co{&v.pool, &v.worn} {
		last := len(*list) - 1
		for i := last; i >= 0; i-- {
			if c := (*list)[i]; c.s == s {
				(*list)[i], (*list)[last] = (*list)[last], nil
				*list = (*list)[:last]
				return c
			}
		}
	}
	return nil
}
