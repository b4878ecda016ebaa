package sched

// A thread that is not begun when another one joins it, on the VP in whose queue it waits, runs at once, in its
// joiner's place: the joiner parks, and goes on when the joined thread ends, by two switches and no queue. So trees of
// threads that fork and join go depth-first, and need as many stacks as they are deep.
//
//	queued on VP v ── withdraw: its joiner, holding v ──────────────► begins, at once
//	begins ────────── ends: its runner switches back to the joiner ─► ended; Join returns
//	begun ─────────── waits in turn: settleJoiner ──────────────────► the joiner stands in joiners
//
// The oldest thread of a queue with several is left there: it is next anyway, and then the runner that begins it goes
// on with the others, without a switch.

// joinLook is how many places from either end of the run queue a joiner looks for the thread.
const joinLook = 16

// withdraw takes h's thread, if it is not begun and may run here at once, out of the queue of the VP that c holds.
// It returns false if the thread is not there, or not near the ends of the queue.
func (c *co) withdraw(h Thread) bool {
	t, v := h.thread, c.l.vp
	if t.isBegun() || t.class.load() != 0 || v.q.nonDefault&^lifoBit != 0 || c.stays {
		return false
	}
	if x := t.extras.Load(); x != nil && (x.pinned || x.detached.Load()) {
		return false
	}
	if x := c.cur.extras.Load(); x != nil && x.due(InJoin) {
		return false
	}
	if v.inbox.Load() != nil {
		v.collect()
	}
	if v.q.threadRing.len() > 1 && v.q.threadRing.oldest() == t && v.q.nonDefault&lifoBit == 0 || !v.q.withdraw(t, joinLook) {
		return false
	}
	return t.co == nil && t.id == h.id && t.mayRun(v) || v.putBack(t)
}

// isBegun is a racy hint.
//
//go:norace
func (t *thread) isBegun() bool { return t.co != nil }

// putBack returns t, which is not the thread that the caller looks for, to the queue.
func (v *vp) putBack(t *thread) bool {
	v.q.add(t)
	return false
}

// joinNow runs t, withdrawn from the queue, and returns when it has ended. It ends the operation.
func (c *co) joinNow(t *thread) {
	c.cur.waiter.kind = InJoin
	c.l.joiner = c
	c.switchTo(t, opNone)
	c.resumed()
}

// settleJoiner has the joiner of the thread on c, which does not end at once, stand in the line of joiners, where a
// cancel finds it. The caller holds c's VP, or is its base.
func (c *co) settleJoiner() {
	j := c.joiner
	c.joiner = nil
	j.settle(c.cur)
}

// settle puts the thread of c among the joiners of t, which has not ended.
func (c *co) settle(t *thread) {
	w := &c.cur.waiter
	storeRel(&t.asked, 1)
	t.mu.Lock()
	w.mu = &t.mu
	t.joiners.push(w)
	t.mu.Unlock()
}

// Do runs its functions, possibly at the same time, and returns when all have returned: the first on the caller, the
// others as threads. The caller runs itself those that no VP has begun by then.
func (moduleCalls) Do(first func(), others ...func()) {
	var few [4]Thread
	spawned := few[:0]
	for _, f := range others {
		spawned = append(spawned, Spawn(f))
	}
	first() // not kept anywhere, so its closure need not be allocated
	for i := len(spawned) - 1; i >= 0; i-- {
		if h := spawned[i]; h.recall() {
			others[i]()
		} else {
			_ = h.Join()
		}
	}
}

// recall takes the thread, if it is not begun, back: its function is the caller's to call, and the thread has ended.
func (h Thread) recall() bool {
	c := Enter()
	if c == nil || !c.withdraw(h) {
		c.Leave()
		return false
	}
	v, t := c.l.vp, h.thread
	t.body = nil
	if !t.endGeneration(c) {
		v.recycle(t)
	}
	storeRel64(&v.ended, v.ended+1)
	c.Leave()
	return true
}

// WatchEnd puts w, a node of a BoundedWait, among the waiters for the thread's end. It returns
// false if the thread has ended. The owner calls UnwatchEnd afterwards. A thread that watches its own
// end waits for ever.
func (moduleCalls) WatchEnd(h Thread, w *Waiter) bool {
	if h.Ended() {
		return false
	}
	_ = &w.thread // nil panics here, while nothing is held
	c := Visit()
	alive := h.thread.lockAlive(h.id) // it returns with t.mu held
	if alive {
		h.thread.joiners.push(w)
	}
	h.thread.mu.Unlock()
	c.Leave()
	return alive
}

// UnwatchEnd takes w out of the joiners' queue if it is still there. The descriptor may serve another thread by now.
func (moduleCalls) UnwatchEnd(h Thread, w *Waiter) {
	_, _ = &h.thread.mu, &w.thread // nil panics here
	visitUnder(&h.thread.mu, func() { h.thread.joiners.remove(w) })
}
