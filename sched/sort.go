package sched

// sort sees to it that t, whose class or set of VPs has just changed, gets into the queue where
// it belongs now, if it is ready. The queue of a VP is its holder's: either that is
// the caller, or the VP is borrowed, as by thieves; or, while its holder is inside
// the scheduler, the holder is asked through its inbox. Where t is queued may change
// at the same time: the one that moves it writes t.vp, then looks at the class; here the class
// has been written, then t.vp is looked at, until it is the same as before. For nodes
// see node.put.
func (t *thread) sort(c *co) {
	if x := t.x.Load(); x != nil {
		if n := x.waits.Load(); n != nil {
			n.Expel()
			return
		}
	}
	for v := t.whereabouts(); ; {
		v.sort(c)
		w := t.whereabouts()
		if w == v {
			return
		}
		v = w
	}
}

// sort sorts v's queue anew, or has it sorted before its next thread is chosen.
func (v *vp) sort(c *co) {
	if c != nil && c.l.vp == v {
		v.sortNow()
		return
	}
	if old, ok := v.borrow(); ok {
		v.sortNow()
		v.giveBack(old)
		return
	}
	if v.sortPending.CompareAndSwap(0, 1) {
		v.post(v.sortRequest)
	}
}

// sortNow puts every ready thread where it belongs: on another VP, if it may not run
// here, or into the ring of its class. Threads that stay keep their order; one that comes to another
// ring is the youngest there. For the holder, or a thief.
func (v *vp) sortNow() {
	if v.inbox.Load() != nil {
		v.collect()
	}
	v.sortRings()
}

func (v *vp) sortRings() {
	for r := range rank(ranks) {
		if v.q.present()&r.bit() == 0 {
			continue
		}
		o := v.q.of(r)
		for range o.len() {
			switch t := o.pop(); {
			case !t.mayRun(v):
				v.expel(t)
			case !t.class.load().placed() && t.rank() == r:
				o.push(t)
			default:
				v.add(t)
			}
		}
		v.q.took(r)
	}
}
