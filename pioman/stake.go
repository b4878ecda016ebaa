package pioman

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// stake is a queue's part in the engine's count of pending requests: one, however many
// OneShot tasks the queue has. So the word that every hook reads is not written for each
// task, but when a queue gets its first one, and some time after its last one.
//
//	      a submitter or Unmask: Need
//	out ───────────────────────────────▶ in
//	 ▲                                    │
//	 └──────── the holder: Done ──────────┘
//
// It may be in while the queue has nothing, for as long as somebody polls; it is not out for
// long while the queue has something:
//
//	submitter                         holder, who has no OneShot task
//	1 the task is in the list         a out
//	2 out? then Need, and in; Done    b is a task in the list? then in again; else Done
//	  if somebody else was faster
//
// 1 before b: it is in again, or was never seen out. b before 1: then a is before 2, and the
// submitter counts the queue anew. Unmask does the same with the mask of a task that the holder
// has passed by.
//
// A poller that finds nothing settles: hooks at once, idle processors after hot, the Sleeper before
// it sleeps. While it is in, the rule is the one for any pending request: somebody polls, or
// sleeps in the Sleeper and is woken.
type stake struct{ w atomic.Uint32 }

func (s *stake) in() bool { return s.w.Load() != 0 }

// join brings it in; false: it is already. For one who has counted for it, so that the count is
// never less than the stakes. Pairs with leave.
func (s *stake) join() bool { return s.w.CompareAndSwap(0, 1) }

// leave brings it out, before everything that the caller reads afterwards.
func (s *stake) leave() { s.w.Store(0) }

// settle takes the queue out of the count if there is nothing in it to be run once. Three
// loads if there is nothing to settle.
func (q *Queue) settle() {
	if !q.stake.in() || !q.submitted.empty() || q.watch != nil && !q.watched() || !q.enter() {
		return
	}
	q.unstake()
	q.exit()
}

// unstake is the holder's part of settle.
func (q *Queue) unstake() {
	if !q.stake.in() || q.wanted() {
		return
	}
	q.stake.leave()                   // a
	if q.wanted() && q.stake.join() { // b; else a submitter was faster, and has counted the queue
		return
	}
	q.engine.Done()
}

// wanted tells whether a OneShot task of the queue is to be run. For the holder.
func (q *Queue) wanted() bool {
	return q.shots != 0 || !q.submitted.empty() || q.unmasked() != 0
}

// unmasked counts the OneShot tasks that were passed by, and have not been met again since
// their last Unmask. For the holder.
func (q *Queue) unmasked() (n int) {
	if q.passed == 0 {
		return 0
	}
	for t := q.head; t != nil; t = t.next {
		if t.passed && !t.masks.on() {
			n++
		}
	}
	return n
}

// enlist and delist count a task of the main list. For the holder, as what follows.
func (q *Queue) enlist(t *Task) {
	q.size++
	if t.opt&Repeat == 0 {
		q.shots++
	}
}

func (q *Queue) delist(t *Task) {
	q.size--
	switch {
	case t.opt&Repeat != 0:
	case t.passed:
		t.passed = false
		q.passed--
	default:
		q.shots--
	}
}

// passBy and meet say that a task is masked, and that it is not any more.
func (q *Queue) passBy(t *Task) {
	if t.opt&Repeat == 0 && !t.passed {
		t.passed = true
		q.shots--
		q.passed++
	}
}

func (q *Queue) meet(t *Task) {
	if t.passed {
		t.passed = false
		q.shots++
		q.passed--
	}
}

// waiting is how many OneShot tasks are to be run, and whether the queue is in the count for them. If
// it is held all the time it cannot tell, and says one.
func (q *Queue) waiting() (n int, in bool) {
	mine := q.held(asm.G())
	for i := 0; !mine && !q.enter(); i++ {
		if i == waitingTries {
			return 1, q.stake.in()
		}
		relax(i, true)
	}
	q.drain(q.turn) // seen from inside a handler: polled in the next round
	q.unstake()
	n, in = int(q.shots)+q.unmasked(), q.stake.in()
	if !mine {
		q.exit()
	}
	return n, in
}

// waitingTries is for how long, in turns of relax, waiting tries to get a queue: longer than any
// handler should take.
const waitingTries = 2000
