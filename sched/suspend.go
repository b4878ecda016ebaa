package sched

// Suspend has the thread stop at its next scheduling point, until Resume:
//
//	running ──── the return from its next wait or yield, or from Blocking ─► stopped
//	ready ────── when it would run again, or begin ────────────────────────► stopped
//	waiting ──── goes on waiting; when it has been woken ──────────────────► stopped
//	stopped ──── Resume ───────────────────────────────────────────────────► ready
//
// A stopped thread keeps what its last wait has got it, such as a Mutex. extras.requests has suspendBit from Suspend to
// Resume; both change it under x.mu, and the thread reads it under x.mu before it parks. A stopped thread stands in
// x.suspendQueue with a Waiter of its own, because that of its descriptor may still hold the result of the last wait.

// Bits of extras.requests: what other threads request of this one, when it runs again.
const (
	suspendBit = 1 << iota
	cancelBit
)

// Suspend keeps the thread from running on, from its next scheduling point to Resume: it returns at once, while the
// thread may still run up to there. The calling thread itself stops before Suspend returns. Calls do not nest. It
// returns ErrNoThread if the thread has ended. To stop a thread at any moment is a debugger's need; to wait for
// something use a Semaphore or Cond.
func (h Thread) Suspend() error {
	x := h.makeExtras()
	if x == nil {
		return ErrNoThread
	}
	x.addRequest(suspendBit)
	if c := lookup(); c != nil && c.cur == h.thread {
		c.parkSuspended(x)
	}
	return nil
}

// Resume lets a suspended thread go on; one that is not suspended is left alone. It does not block. It returns
// ErrNoThread if the thread has ended.
func (h Thread) Resume() error {
	x := h.makeExtras()
	if x == nil {
		return ErrNoThread
	}
	c := Visit()
	x.mu.Lock()
	x.requests.And(^uint32(suspendBit))
	w := x.suspendQueue.Pop()
	x.mu.Unlock()
	if w != nil {
		c.Wake(w)
	}
	c.Leave()
	return nil
}

// addRequest sets a bit of requests.
func (x *extras) addRequest(bit uint32) {
	visitUnder(&x.mu, func() { x.requests.Or(bit) })
}

// parkSuspended parks the calling thread as long as it is suspended.
func (c *co) parkSuspended(x *extras) {
	c.enter()
	x.mu.Lock()
	for x.requests.Load()&suspendBit != 0 {
		x.suspendWaiter.thread = c.cur
		x.suspendQueue.push(&x.suspendWaiter)
		c.parkNow(&x.mu)
		x.mu.Lock()
	}
	x.mu.Unlock()
	c.Leave()
	if x.waitCanceled && c.cur.waiter.kind.cancelEffect() == cancelUnwinds && c.cur.currentWait == nil {
		c.unwind(x)
	}
}

// YieldTo lets h's thread run at once if it is ready in the queue of the caller's VP, and reports whether it did; else
// it is Yield. The caller goes to the end of the queue. It looks through the whole queue.
func (moduleCalls) YieldTo(h Thread) bool {
	c := Enter()
	if c == nil || h.thread == nil {
		c.Leave()
		Yield()
		return false
	}
	v := c.l.vp
	if v.inbox.Load() != nil {
		v.collect()
	}
	t := h.thread
	if v.q.withdraw(t, v.q.total()) {
		if t.id == h.id && t.mayRun(v) {
			c.switchTo(t, opReady)
			c.resumed()
			return true
		}
		v.putBack(t)
	}
	c.Leave()
	Yield()
	return false
}
