package sched

import "github.com/pm2-go/pm2/hooks"

// Waiter is the place of a thread or goroutine, parked or about to park, in a WaitQueue. A thread has one inside its
// descriptor, for fast waits. All other Waiters are nodes of a BoundedWait, also that of a goroutine's fast wait. The
// lock of the queue guards the links.
type Waiter struct {
	_ [0]Spin // go vet reports copies

	// A waker reads and writes these fields. In a thread's descriptor they are on one cache line.
	next, prev *Waiter
	queue      *WaitQueue
	thread     *thread // nil: a node of a BoundedWait
	kind       Kind    // of the wait; see As
	given      bool    // the waker used Give; Wait returns it
	bounded    bool    // its wait has a ticket: a waker must win claim
	spins      uint32  // of a descriptor's: see spinwait.go

	mu   *Spin        // guards q
	b    *BoundedWait // it is a node of this wait, and t is nil; nil: it is a thread descriptor's
	note any          // what the waiter leaves for its waker
}

// WaitQueue holds waiting threads and goroutines in order of arrival. Its owner guards it with a Spin, "the lock"
// below. The zero value is empty. It must not be copied after first use.
type WaitQueue struct {
	_          [0]Spin // go vet reports copies
	head, tail *Waiter
}

// Empty reports whether there is no waiter. Under the lock.
func (wq *WaitQueue) Empty() bool { return wq.head == nil }

func (wq *WaitQueue) push(w *Waiter) {
	w.queue = wq
	w.prev, w.next = wq.tail, nil
	if wq.tail == nil {
		wq.head = w
	} else {
		wq.tail.next = w
	}
	wq.tail = w
}

func (wq *WaitQueue) pushFront(w *Waiter) {
	w.queue = wq
	w.prev, w.next = nil, wq.head
	if wq.head == nil {
		wq.tail = w
	} else {
		wq.head.prev = w
	}
	wq.head = w
}

func (wq *WaitQueue) remove(w *Waiter) {
	if w.queue != wq {
		return
	}
	if w.prev == nil {
		wq.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		wq.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.next, w.prev, w.queue = nil, nil, nil
}

// Pop takes the waiter that has waited longest out of wq; nil: there is none. The caller holds the lock, and must then
// Wake the waiter.
func (wq *WaitQueue) Pop() *Waiter {
	for {
		w := wq.head
		if w == nil {
			return nil
		}
		next := w.next
		w.next, w.queue, wq.head = nil, nil, next // in one statement: the compiler checks the write barrier once
		if next == nil {
			wq.tail = nil
		} else {
			next.prev = nil
		}
		if !w.bounded || w.claim() {
			return w
		}
	}
}

// PopN takes up to n waiters out, all of them if n < 0. It returns the first of a chain of them, for WakeAll, and their
// number. Under the lock.
func (wq *WaitQueue) PopN(n int) (first *Waiter, popped int) {
	var last *Waiter
	for ; popped != n; popped++ {
		w := wq.Pop()
		if w == nil {
			break
		}
		if last == nil {
			first = w
		} else {
			last.next = w
		}
		last = w
	}
	return first, popped
}

// PopAll is PopN of all waiters. Under the lock.
func (wq *WaitQueue) PopAll() *Waiter {
	first, _ := wq.PopN(-1)
	return first
}

// WakeAll wakes a chain that PopN or PopAll returned.
func (c *co) WakeAll(w *Waiter) {
	for w != nil {
		next := w.next
		w.next = nil
		c.Wake(w)
		w = next
	}
}

// claim ends the wait of w, a node of a BoundedWait, for w. It returns false if the wait has ended already.
func (w *Waiter) claim() bool { return w.b.claimFor(w, w.b.ticket.Load()) }

// Wait parks the caller at the end of q until it is woken, and reports whether the waker used Give. The caller holds
// mu, which guards q; once the caller is parked mu is unlocked. Wait also ends the operation that Enter began: no Leave
// follows.
func (c *co) Wait(q *WaitQueue, mu *Spin) (given bool) {
	if c == nil {
		return waitOutside(q, mu, false, nil)
	}
	w := &c.cur.waiter
	if x := c.cur.extras.Load(); x != nil && c.refused(x, mu) {
		return false
	}
	w.mu = mu
	q.push(w)
	l := c.l
	l.unlock = mu
	if c.joiner != nil {
		c.settleJoiner()
	}
	next, o := l.vp.pop(), opUnlock
	if next == nil && !c.stays {
		var woken bool
		if next, o, woken = c.spinFirst(mu); woken {
			c.resumed()
			given, w.given = w.given, false
			return given
		}
	}
	c.switchTo(next, o)
	// This repeats co.resumed by hand, because each level of calls between a waiter and the switch costs a nanosecond
	// or two.
	v := c.l.vp
	storeRel(&c.inside, c.inUser)
	if !v.sched.hooks.Silent(hooks.Switch) || c.cur.extras.Load() != nil {
		c.resumedSlow()
	}
	w.kind = InOther
	if w.given {
		w.given = false
		return true
	}
	return false
}

// waitFirst is Wait of a thread at the front of q.
func (c *co) waitFirst(q *WaitQueue, mu *Spin) (given bool) {
	w := &c.cur.waiter
	if x := c.cur.extras.Load(); x != nil && c.refused(x, mu) {
		return false
	}
	w.mu = mu
	q.pushFront(w)
	c.park(mu)
	given, w.given = w.given, false
	return given
}

// WaitNote is Wait with a note for the waker: see Waiter.Note.
func (c *co) WaitNote(q *WaitQueue, mu *Spin, note any) (given bool) {
	if c != nil {
		c.cur.waiter.note = note
		return c.Wait(q, mu)
	}
	return waitOutside(q, mu, false, note)
}

// park parks the caller and runs the next ready thread, or the base. Once the caller is parked mu is unlocked. When the
// caller runs again park ends the operation.
func (c *co) park(mu *Spin) {
	c.pause(mu)
	c.resumed()
}

// pause is park that leaves the operation open.
func (c *co) pause(mu *Spin) {
	l := c.l
	l.unlock = mu
	if c.joiner != nil {
		c.settleJoiner()
	}
	next, o := l.vp.pop(), opUnlock
	if next == nil && !c.stays {
		var woken bool
		if next, o, woken = c.spinFirst(mu); woken {
			return
		}
	}
	c.switchTo(next, o)
}

// parkNow is pause of a thread for which no waker is on its way: it does not spin.
func (c *co) parkNow(mu *Spin) {
	c.l.unlock = mu
	if c.joiner != nil {
		c.settleJoiner()
	}
	c.switchTo(c.l.vp.pop(), opUnlock)
}

// Give marks a waiter that Pop returned: its Wait will return true. The waker uses it to say that the waiter has got
// what it waits for.
func (w *Waiter) Give() { w.given = true }

// Wake makes the waiter ready again. It touches neither the waiter nor the queue it came from after that.
func (c *co) Wake(w *Waiter) {
	if t := w.thread; t != nil && c != nil { // most waiters are threads of the waker's VP: this is ready for them, inlined
		v := c.l.vp
		if t.vp == v && t.class.load() == 0 && v.tick%wakeSample != 0 && v.trace.Load() == nil && v.mayIgnoreWants() && v.q.tryPush(t) {
			return
		}
	}
	if w.b != nil {
		w.b.wake(c)
	} else {
		c.ready(w.thread)
	}
}

// ready queues t, which its waker has taken out of a wait queue.
//
//   - If the waker's VP is t's own, t is queued there.
//   - If t spins, it goes on where it is.
//   - If t's own VP is asleep or has other threads to run, and t may move, t is queued on the waker's VP: at
//     home it would wait, and what it is woken for is in the waker's cache.
//   - Otherwise t goes to the inbox of its own VP. An outsider (Visit) always uses the inbox; so does an
//     idle hook, whose base then finds t there.
func (c *co) ready(t *thread) {
	if c == nil {
		if c.stampWake(t); t.wakeSpinning() {
			return
		}
	} else {
		v := c.l.vp
		if v.tick%wakeSample == 0 || v.trace.Load() != nil {
			c.stampWake(t)
		}
		if t.vp == v {
			v.ready(t, false)
			return
		}
		if t.wakeSpinning() {
			return
		}
		if o := t.vp; o.sched == v.sched && (o.idle.asleep() || o.hasOwn()) && t.mayRun(v) {
			t.vp = v
			v.ready(t, false)
			return
		}
	}
	t.vp.post(t)
}
