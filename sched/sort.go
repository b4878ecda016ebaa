package sched

// sort moves t, whose class or set of VPs has just changed, to the queue to which it belongs now, if it is ready. A
// VP's queue is its holder's. If the caller is the holder it sorts the queue. Else it borrows the VP, as a thief does;
// or, while the holder is inside the scheduler, it asks the holder by a request in the inbox.
//
// Another thread may move t at the same time: it writes t.vp, then reads the class. The caller of sort has written the
// class; sort then reads t.vp, and repeats until t.vp stays the same. For nodes see queueNode.put.
func (t *thread) sort(c *co) {
	if x := t.extras.Load(); x != nil {
		if n := x.queuedOn.Load(); n != nil {
			n.Resort()
			return
		}
	}
	for v := t.vpHint(); ; {
		v.sort(c)
		w := t.vpHint()
		if w == v {
			return
		}
		v = w
	}
}

// sort sorts v's queue anew, or asks the holder to do so before it chooses the next thread.
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

// sortNow puts every ready thread where it belongs: on another VP if it may not run here, else into the ring of its
// class. Threads that stay keep their order. A thread that changes rings becomes the youngest of its new ring. The
// holder or a thief calls it.
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
