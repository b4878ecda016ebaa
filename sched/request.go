package sched

import "sync/atomic"

// An idle VP requests work before it steals. A thief makes each CPU of the process pass a barrier (borrow), which
// interrupts the threads that compute: for 1 us, or 15 us in a virtual machine. A VP that spawns a thread grants one
// for the price of a post, as in Acar, Charguéraud and Rainey, "Scheduling parallel programs by work stealing with
// private deques" (PPoPP 2013).
//
//	idle ─────── request: after requestAfter, if no other VP requests ────────► requesting
//	requesting ─ withdrawRequest: it has found work, or goes to sleep ────────► idle
//	requesting ─ grant: a VP that spawns a thread posts it its oldest one ────► idle
//
// A VP that has been idle for stealAfter steals. A VP that wakes a thread grants no request, one that spawns does
// (serveWants).
type workRequest struct {
	_         [128]byte
	requester atomic.Pointer[vp] // nil: no VP
	_         [120]byte
}

const (
	requestAfter = 1000 // ns of idleness: a thread that is joined at once is not worth the trip
	stealAfter   = 5000 // ns of idleness
)

// request says that v, which is idle, wants work. Holder only.
func (v *vp) request() {
	r := &v.sched.request
	if !v.requesting && r.requester.Load() == nil && r.requester.CompareAndSwap(nil, v) {
		v.requesting = true
		v.sched.wants.Add(wantsThread)
	}
}

// withdrawRequest takes v's request back, unless it has been granted. Holder only.
func (v *vp) withdrawRequest() {
	if v.requesting {
		v.requesting = false
		v.sched.settleRequest(v)
	}
}

// settleRequest ends the request of v. It returns false if another VP has ended it.
func (s *Scheduler) settleRequest(v *vp) bool {
	if s.request.requester.Load() != v || !s.request.requester.CompareAndSwap(v, nil) {
		return false
	}
	s.wants.Add(-wantsThread)
	return true
}

// grant gives the VP that requests work the oldest thread of v, which has just spawned one. Holder only.
func (v *vp) grant() {
	o, t := v.sched.request.requester.Load(), v.q.threadRing.oldest()
	if o == nil || o == v || o.disabled.Load() || t == nil || t.set.Load() != nil || !v.sched.settleRequest(o) {
		return
	}
	v.q.threadRing.pop()
	t.vp = o
	o.post(t)
}
