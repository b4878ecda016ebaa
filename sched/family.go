package sched

import (
	"slices"
	"time"
)

// What groups of threads that another package keeps (package place: bubbles) are to the
// scheduler. A scheduler without any pays nothing: Attr.Bubble, rare.member and
// Scheduler.planners are nil.

// Family is a group that a thread comes into when it is spawned: see Attr.Bubble.
type Family interface {
	// Adopt puts t, which has not begun, in: it calls Thread.Enroll. The caller holds no lock.
	Adopt(t Thread) error
}

// Member is the part of a thread in its group.
type Member interface {
	// Ended is called when the thread has ended. c, which may be nil, wakes others.
	Ended(c *Co)
}

// Planner says where threads are to run: at the same time for several VPs and the clock, so
// it refuses all but one. It must not block.
type Planner interface {
	// Seek tells whether it has moved a thread to where VP number vp, which is idle, takes it from.
	Seek(vp int) bool
	// Tick is called by the clock once a period. It tells whether it needs more ticks even if
	// nothing moves.
	Tick(now time.Duration) bool
}

// SetPlanners says which planners are asked. Under the lock of the forest.
func (s *Scheduler) SetPlanners(all []Planner) {
	if len(all) == 0 {
		s.planners.Store(nil)
	} else {
		s.planners.Store(&all)
	}
}

// Planners are those that are asked. They must not be changed.
func (s *Scheduler) Planners() []Planner {
	if p := s.planners.Load(); p != nil {
		return *p
	}
	return nil
}

// Forest is the lock of all groups of threads of s: the first in the order of locks.
func (s *Scheduler) Forest() *Spin { return &s.forest }

// Enroll makes m the thread's part in a group, and q the queue on which it waits from now on;
// m nil: it is in none. false: it has ended. If it may be ready Sort is to follow.
func (h Thread) Enroll(m Member, q *Queue) (alive bool) {
	alive = h.t.life(h.gen)
	if alive {
		x := h.t.x.Load()
		if x.member.Store(nil); m != nil {
			x.member.Store(&m)
		}
		h.t.assign(q)
	}
	h.t.mu.Unlock()
	return alive
}

// Enrollable sees to it that the thread can be enrolled; false: it has ended. The caller holds no lock.
func (h Thread) Enrollable() bool { return h.needRare() != nil }

// Member is the thread's part in a group; nil: it is in none, or has ended.
func (h Thread) Member() Member {
	if x := h.rare(); x != nil && !h.Ended() {
		if p := x.member.Load(); p != nil {
			return *p
		}
	}
	return nil
}

// Scheduler is that of a thread that has not ended.
func (h Thread) Scheduler() *Scheduler { return h.t.home() }

// Sort has the thread, if it is ready, moved to the queue on which it is to wait.
func (h Thread) Sort(c *Co) { h.t.sort(c) }

// leaveFamily tells the group of a thread that has ended, c, which may be nil, being its last co.
func (c *co) leaveFamily(x *rare) {
	if p := x.member.Load(); p != nil {
		(*p).Ended(c)
	}
}

// Moves are threads that are told to wait on other queues, all at once: Move says so of each,
// Finish moves those that are ready. So nothing runs where only an earlier Move has put it.
type Moves struct {
	nodes []*node // to be sifted: see node.put and thread.sort
	vps   []*vp
}

// Move has h, which is enrolled, wait on q.
func (m *Moves) Move(h Thread, q *Queue) {
	t := h.t
	if !t.life(h.gen) {
		t.mu.Unlock()
		return
	}
	old := t.node()
	t.assign(q)
	t.mu.Unlock()
	if old == q {
		return
	}
	if w := t.x.Load().waits.Load(); w != nil {
		if !slices.Contains(m.nodes, w) {
			m.nodes = append(m.nodes, w)
		}
	} else if v := t.whereabouts(); old == nil && !slices.Contains(m.vps, v) {
		m.vps = append(m.vps, v) // else it is in no queue, or on its way into that of a node
	}
}

// Finish moves the threads that are ready. The caller holds no lock.
func (m *Moves) Finish(c *Co) {
	for _, n := range m.nodes {
		n.Expel()
	}
	for _, v := range m.vps {
		v.sort(c)
	}
}

// plan is called by the clock.
func (s *Scheduler) plan(now int64) (needed bool) {
	for _, p := range s.Planners() {
		needed = p.Tick(time.Duration(now)) || needed
	}
	return needed
}

// plannersPause is how long, in ns, an idle VP does not ask planners again that had
// nothing for it.
const plannersPause = 10_000

// seek has the planners find something for v, which is idle.
func (v *vp) seek(all []Planner, now, pause int64) bool {
	if now < v.planAt {
		return false
	}
	for _, p := range all {
		if p.Seek(v.id) {
			return true
		}
	}
	v.planAt = now + pause
	return false
}
