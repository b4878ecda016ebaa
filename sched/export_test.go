package sched

// For the tests of package sched_test.
const IsDirect = isDirect

// Planted is a scheduler whose VPs no LWP has, for the test of bubbles.
type Planted struct {
	*Scheduler
	base *co
}

// Plant makes one for a machine.
func Plant(t interface{ Fatal(...any) }, machine string) Planted {
	s := planted(t, machine, 0)
	return Planted{s, &co{base: true, l: &lwp{vp: s.vps[0]}}}
}

// SmallRings has rings begin with room for two threads, until restore.
func SmallRings() (restore func()) {
	n := minRing
	minRing = 2
	return func() { minRing = n }
}

// Seed makes a thread that is in no queue, of rank r modulo how many there are.
func (pt Planted) Seed(vp, r int) Thread {
	x := ofRank(rank(r) % ranks)
	x.vp = pt.vps[vp]
	x.extras.Store(&extras{id: x.id})
	return Thread{x, x.id}
}

// Ready and Yield queue a thread.
func (pt Planted) Ready(h Thread)         { h.thread.vp.add(h.thread) }
func (pt Planted) Yield(h Thread)         { h.thread.vp.requeue(h.thread) }
func (pt Planted) IsPlaced(h Thread) bool { return h.thread.node() != nil }
func (pt Planted) Plan(now int64)         { pt.plan(now) }

// Ask asks the planners for VP vp, and tells whether what they say they have moved is there.
func (pt Planted) Ask(vp int) (right bool) {
	v := pt.vps[vp]
	moved := v.seek(pt.Planners(), 1, 0)
	v.planAt = 0
	return !moved || v.hasWork()
}

// Pop takes the next thread of VP vp, and tells whether it may be there.
func (pt Planted) Pop(vp int) (h Thread, ok, belongs bool) {
	v := pt.vps[vp]
	x := v.pop()
	if x == nil {
		return Thread{}, false, true
	}
	return Thread{x, x.extras.Load().id}, true, x.belongs(v)
}

// End ends a thread that Pop has taken.
func (pt Planted) End(h Thread) {
	h.thread.id = lastID.Add(1)
	pt.base.leaveBubble(h.thread.extras.Load())
}

// Queued counts the threads in all queues; all are those that may be on holds.
func (pt Planted) Queued(all []Thread) (n int) {
	for _, v := range pt.vps {
		n += v.q.total()
		for x := v.inbox.Load(); x != nil; x = x.link {
			if x != v.sortRequest {
				n++
			}
		}
	}
	seen := map[*queueNode]bool{}
	pt.root.walk(func(q *queueNode) {
		seen[q] = true
		n += q.queue.total()
	})
	for _, h := range all {
		for _, q := range []*queueNode{h.thread.node(), h.thread.extras.Load().queuedOn.Load()} {
			if q != nil && !seen[q] {
				seen[q] = true
				n += q.queue.total()
			}
		}
	}
	return n
}

// walk visits n and the nodes below it.
func (n *queueNode) walk(visit func(*queueNode)) {
	visit(n)
	for _, d := range n.down {
		d.walk(visit)
	}
}
