package sched

import (
	"slices"
	"time"
)

// Package place keeps bubbles, and this file has what the scheduler knows of them. A scheduler without
// bubbles pays nothing: Attr.Bubble, extras.member and Scheduler.planners are nil.

// Bubble is a bubble as the scheduler knows it: a group that a thread may join when it is spawned (Attr.Bubble).
type Bubble interface {
	// Adopt puts t, which has not begun, into the bubble: it calls Thread.Enroll. The caller holds no lock.
	Adopt(t Thread) error
}

// Member is what a bubble keeps for one of its threads.
type Member interface {
	// Ended is called when the thread has ended. c, which may be nil, wakes others.
	Ended(c *Co)
}

// Planner decides where the threads of a bubble run. Several VPs and the clock may call it at the same time: it serves
// one of them and answers false to the others. It must not block.
type Planner interface {
	// Seek reports whether it has moved a thread to where VP number vp, which is idle, takes it from.
	Seek(vp int) bool
	// Tick is called by the clock once a period. It reports whether it needs more ticks even if
	// nothing moves.
	Tick(now time.Duration) bool
}

// SetPlanners sets the planners of s. The caller holds the BubbleLock.
func (s *Scheduler) SetPlanners(all []Planner) {
	if len(all) == 0 {
		s.planners.Store(nil)
	} else {
		s.planners.Store(&all)
	}
}

// Planners returns the planners of s. The caller must not change the slice.
func (s *Scheduler) Planners() []Planner {
	if p := s.planners.Load(); p != nil {
		return *p
	}
	return nil
}

// BubbleLock is the lock of all bubbles of s: the first in the order of locks.
func (s *Scheduler) BubbleLock() *Spin { return &s.bubbleLock }

// Enroll makes m the thread's member in a bubble, and q the queue in which the thread waits from now on.
// A nil m takes it out of its bubble. Enroll returns false if the thread has ended. If the thread may be ready the
// caller then calls Sort.
func (h Thread) Enroll(m Member, q *Queue) (alive bool) {
	alive = h.thread.lockAlive(h.id)
	if alive {
		x := h.thread.extras.Load()
		if x.member.Store(nil); m != nil {
			x.member.Store(&m)
		}
		h.thread.assign(q)
	}
	h.thread.mu.Unlock()
	return alive
}

// PrepareEnroll gives the thread what Enroll needs. It returns false if the thread has ended. The caller holds no lock.
func (h Thread) PrepareEnroll() bool { return h.makeExtras() != nil }

// Member returns the thread's member in its bubble; nil if it is in none, or has ended.
func (h Thread) Member() Member {
	if x := h.extras(); x != nil && !h.Ended() {
		if p := x.member.Load(); p != nil {
			return *p
		}
	}
	return nil
}

// Scheduler returns the scheduler of a thread that has not ended.
func (h Thread) Scheduler() *Scheduler { return h.thread.home() }

// Sort moves the thread, if it is ready, to the queue to which Enroll has assigned it. c is the caller's.
func (h Thread) Sort(c *Co) { h.thread.sort(c) }

// leaveBubble tells the bubble of a thread that the thread has ended. c is the thread's last co, or nil.
func (c *co) leaveBubble(x *extras) {
	if p := x.member.Load(); p != nil {
		(*p).Ended(c)
	}
}

// Moves moves several threads to other queues in one step: Move assigns each thread to a queue, then Finish moves those
// that are ready. So no thread runs where an earlier Move has assigned it and a later one will not leave it.
type Moves struct {
	nodes []*queueNode // whose queues Finish sorts anew: see queueNode.put and thread.sort
	vps   []*vp        // the same
}

// Move assigns h, which is enrolled, to q.
func (m *Moves) Move(h Thread, q *Queue) {
	t := h.thread
	if !t.lockAlive(h.id) {
		t.mu.Unlock()
		return
	}
	old := t.node()
	t.assign(q)
	t.mu.Unlock()
	if old == q {
		return
	}
	if w := t.extras.Load().queuedOn.Load(); w != nil {
		if !slices.Contains(m.nodes, w) {
			m.nodes = append(m.nodes, w)
		}
	} else if v := t.vpHint(); old == nil && !slices.Contains(m.vps, v) {
		m.vps = append(m.vps, v) // else it is in no queue, or on its way into that of a node
	}
}

// Finish moves the threads that are ready. The caller holds no lock.
func (m *Moves) Finish(c *Co) {
	for _, n := range m.nodes {
		n.Resort()
	}
	for _, v := range m.vps {
		v.sort(c)
	}
}

// plan calls Tick of each planner, and reports whether one of them needs more ticks. The clock calls it; now is in ns.
func (s *Scheduler) plan(now int64) (needed bool) {
	for _, p := range s.Planners() {
		needed = p.Tick(time.Duration(now)) || needed
	}
	return needed
}

// plannersPause is how long, in ns, an idle VP waits before it asks planners again that had nothing for it.
const plannersPause = 10_000

// seek asks the planners for work for v, which is idle, and reports whether one has moved a thread.
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
