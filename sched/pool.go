package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/direct"
)

// pool holds the idle runners of a VP, each with its stack; take returns the one that was put last. Only the holder of
// the VP uses it, except for trimDue.
//
// A pool that is larger than its VP needs shrinks by its low-water mark, as those of allocators do: runners that the VP
// has not taken for a whole Config.SpareTime are surplus, but for Config.SpareRunners of them. Half of the surplus
// ends, or all of it if it is small; so a program that needs many runners now and then keeps most. The clock sets
// trimDue, and the VP trims the pool while it has nothing else to do.
type pool struct {
	idle       []*co
	lowWater   int           // of them since due was seen last: the low-water mark
	numRunners int           // runners that the VP has made, less those that have ended here
	trimmed    uint64        // of those that were surplus, in all
	trimDue    atomic.Uint32 // 1: the base is to see how many are surplus; the clock's
}

const (
	defaultSpareRunners = 256
	smallSurplus        = 256 // a surplus of up to so many runners ends at once
)

// put adds c.
func (po *pool) put(c *co) { po.idle = append(po.idle, c) }

// take returns the runner that was put last, and takes it out; nil: there is none.
func (po *pool) take() *co {
	n := len(po.idle) - 1
	if n < 0 {
		return nil
	}
	c := po.idle[n]
	po.idle = po.idle[:n]
	if n < po.lowWater {
		po.lowWater = n
	}
	return c
}

// trim ends surplus runners, but for spare of them. The base calls it as the holder.
func (po *pool) trim(spare int) {
	po.trimDue.Store(0)
	if surplus := po.lowWater - spare; surplus > 0 {
		n := max((surplus+1)/2, min(surplus, smallSurplus))
		for _, c := range po.idle[:n] {
			c.retire()
		}
		kept := copy(po.idle, po.idle[n:])
		clear(po.idle[kept:])
		po.idle = po.idle[:kept]
		if cap(po.idle) > 4*kept {
			po.idle = append(make([]*co, 0, 2*kept), po.idle...)
		}
		po.numRunners -= n
		count(&po.trimmed, uint64(n))
	}
	po.lowWater = len(po.idle)
}

// retire ends c, an idle runner.
func (c *co) retire() {
	c.ending = true
	unregister(c)
	c.l = &c.l.vp.outsideLWP // no co leaves this LWP, so c has nothing to finish there
	c.release()
	direct.Ready(c.seat.G)
}

// size returns the number of idle runners: a racy hint.
//
//go:norace
func (po *pool) size() int { return len(po.idle) }

// surplusRunners reports whether v has so many idle runners that some may be surplus, a racy hint.
func (v *vp) surplusRunners() bool {
	most := v.sched.cfg.SpareRunners
	return most >= 0 && v.pool.size() > most
}

// trimRunners has v trim its pool. The clock calls it.
func (v *vp) trimRunners() {
	v.pool.trimDue.Store(1)
	v.kick() // also if it is held: its LWP may have looked for the last time before it sleeps
}

// retire ends all runners of a scheduler whose threads and LWPs have ended.
func (s *Scheduler) retire() {
	for _, v := range s.vps {
		for _, c := range v.pool.idle {
			c.retire()
		}
		v.pool.idle = nil
	}
}
