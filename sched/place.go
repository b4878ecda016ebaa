package sched

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/sched/vpset"
)

// VPSet is a set of virtual processors: see package vpset.
type VPSet = vpset.Set

// maxVPs is how many a scheduler can have.
const maxVPs = vpset.Max

// OneVP returns the set of VP i alone. It panics if no scheduler can have a VP i.
func OneVP(i int) VPSet { return vpset.One(i) }

// ErrNoVPs says that a thread would have no VP to run on: the set is empty, or names only VPs that its scheduler does
// not have.
var ErrNoVPs = errors.New("marcel: no VP to run on")

// mayRun reports whether t may run on v, now.
func (t *thread) mayRun(v *vp) bool {
	return !v.disabled.Load() && t.inSet(v)
}

// inSet reports whether v is in t's set, whether v is disabled or not.
func (t *thread) inSet(v *vp) bool {
	s := t.set.Load()
	return s == nil || s.Has(v.id)
}

// mayMove reports whether t may run on another VP than v.
func (t *thread) mayMove(v *vp) bool {
	s := t.set.Load()
	return s == nil || *s != v.self
}

// belongs reports whether t may stay on v, on which it runs: t may run there, and if t's queue is a node's, v is one of
// the VPs of that node.
func (t *thread) belongs(v *vp) bool {
	if !t.mayRun(v) {
		return false
	}
	n := t.node()
	return n == nil || n.reaching(t).covers(v)
}

// confine sets where t may run; nil: anywhere. It stores only a change, because the store is a
// locked instruction.
func (t *thread) confine(set *VPSet) {
	if t.set.Load() != set {
		t.set.Store(set)
	}
}

// allowed returns those VPs of set that s has, as thread.set keeps them: nil if they are all. If s has none of them
// that is an error.
func (s *Scheduler) allowed(set VPSet) (*VPSet, error) {
	mine := set.And(s.allVPs)
	switch {
	case mine == s.allVPs:
		return nil, nil
	case mine.Empty():
		return nil, fmt.Errorf("%w: the set is %v, this scheduler has VPs 0 to %d", ErrNoVPs, set, len(s.vps)-1)
	case mine.Count() == 1:
		for i := range mine.Each() {
			return &s.vps[i].self, nil
		}
	}
	return &mine, nil
}

// place chooses a VP for t, which was spawned outside of s or may not stay where it is. It takes the VPs of t's set in
// turn, and a disabled VP only if the set has no other.
func (s *Scheduler) place(t *thread) *vp {
	turn := int(s.nextVP.Add(1)-1) % len(s.vps)
	set := t.set.Load()
	if set == nil {
		set = &s.allVPs
	}
	var first, off *vp
	for i := range set.Each() {
		v := s.vps[i]
		switch {
		case v.disabled.Load():
			off = v
		case i >= turn:
			return v
		case first == nil:
			first = v
		}
	}
	if first == nil {
		return off
	}
	return first
}

// expel sends t, which is ready and in no queue, to a VP that it may run on.
func (v *vp) expel(t *thread) {
	o := v.sched.place(t)
	t.vp = o
	if o.disabled.Load() && v.sched.bar(t) {
		return
	}
	o.post(t)
}

// receive queues t, which is ready and in no queue, by way of v's inbox, or sends it to another VP if t may not run on
// v. Any thread, goroutine or hook may call it.
func (v *vp) receive(t *thread) {
	if t.mayRun(v) {
		v.post(t)
	} else {
		v.expel(t)
	}
}

// popAllowed is the slow path of pop, for a t with a set: it may be in the queue of a VP on which it may not run any
// more. Holder only.
func (v *vp) popAllowed(t *thread, low rank) *thread {
	if t.mayRun(v) {
		return t
	}
	v.expel(t)
	return v.choose(low)
}

// SetVPs sets where the thread may run from now on, and moves the thread if its VP is not in the set: a ready thread at
// once; a waiting thread when it is woken; a running thread at its next scheduling point (it yields, waits, loses its
// VP); the calling thread itself before SetVPs returns. The set may also name VPs that the scheduler does not have.
// SetVPs fails with ErrNoVPs if the set names no VP of the scheduler, and with ErrNoThread if the thread has ended. Any
// thread or goroutine may call it; it does not wait for the thread.
func (h Thread) SetVPs(set VPSet) error {
	t := h.thread
	if t == nil {
		return ErrNoThread
	}
	c := Enter()
	if !t.lockAlive(h.id) {
		t.mu.Unlock()
		c.Leave()
		return ErrNoThread
	}
	s := t.home()
	mine, err := s.allowed(set)
	if err == nil {
		t.confine(mine)
	}
	t.mu.Unlock()
	if err == nil {
		s.unbar()
		switch v := t.vpHint(); {
		case c != nil && c.cur == t:
			if !t.mayRun(c.l.vp) {
				c.move()
				return nil
			}
		case t.mayRun(v) && !t.class.load().placed():
		default:
			t.sort(c)
		}
	}
	c.Leave()
	return err
}

// VPs returns the set of VPs that the thread may run on; the empty one if it has ended.
func (h Thread) VPs() (set VPSet) {
	t := h.thread
	if t == nil {
		return
	}
	c := Enter()
	if t.lockAlive(h.id) {
		if set = t.home().allVPs; t.set.Load() != nil {
			set = *t.set.Load()
		}
	}
	t.mu.Unlock()
	c.Leave()
	return set
}

// vpHint returns the VP on which t was queued last: a hint, since t may move at any moment.
//
//go:norace
func (t *thread) vpHint() *vp { return t.vp }

// home returns the scheduler of a thread that has not ended. A thread keeps its scheduler for life.
func (t *thread) home() *Scheduler { return t.vpHint().sched }

// move parks the caller and makes it ready on a VP that it may run on. It ends the operation, as Yield does.
func (c *co) move() {
	c.switchTo(c.l.vp.pop(), opMove)
	c.resumed()
}
