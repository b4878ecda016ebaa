package pioman

import "sync/atomic"

// mark says that a queue is counted among the engine's pending requests: once, however many
// OneShot tasks it has. So the word that every hook reads is not written for each
// task, but when a queue gets its first one, and some time after its last one.
//
//	        a submitter: Need
//	clear ──────────────────────────────▶ set
//	  ▲                                    │
//	  └──────── the holder: Done ──────────┘
//
// It may be set while the queue has nothing, for as long as a poller polls; it is not clear for
// long while the queue has something:
//
//	submitter                          holder that has no OneShot task
//	1 the task is in the list          a clear
//	2 clear? then Need, and set; Done  b is a task in the list? then set again; else Done
//	  if another submitter was faster
//
// 1 before b: the holder sets it again, or the submitter never saw it clear. b before 1: then a is before 2, and the
// submitter counts the queue anew.
//
// A poller that finds nothing settles the queue: hooks at once, idle processors after hot, the sleeper before
// it sleeps. While the mark is set the rule is that of any pending request: a poller polls, or the
// sleeper sleeps, and is woken.
type mark struct{ w atomic.Uint32 }

func (m *mark) isSet() bool { return m.w.Load() != 0 }

// set: false if it is set already. The caller has called Need before, so that the count is
// never less than the marks. Pairs with clear.
func (m *mark) set() bool { return m.w.CompareAndSwap(0, 1) }

// clear is a barrier: what the caller reads after it is no older.
func (m *mark) clear() { m.w.Store(0) }

// settle takes the queue out of the count if there is nothing in it to be run once. Three
// loads if there is nothing to settle.
func (q *Queue) settle() {
	if !q.mark.isSet() || !q.submitted.empty() || !q.enter() {
		return
	}
	q.clearMark()
	q.exit()
}

// clearMark is the holder's part of settle.
func (q *Queue) clearMark() {
	if !q.mark.isSet() || q.wanted() {
		return
	}
	q.mark.clear()                  // a
	if q.wanted() && q.mark.set() { // b; if set says no a submitter was faster, and has counted the queue
		return
	}
	q.engine.Done()
}

// wanted tells whether a OneShot task of the queue is to be run. For the holder.
func (q *Queue) wanted() bool { return q.oneShots != 0 || !q.submitted.empty() }

// list counts a task that comes to the main list (n: 1), or leaves it (n: -1). For the holder.
func (q *Queue) list(t *Task, n int32) {
	q.size += n
	if t.opt&Repeat == 0 {
		q.oneShots += n
	}
}
