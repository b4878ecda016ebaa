package pioman

import "sync/atomic"

// mark says that a queue is counted among the engine's pending requests: once, however many OneShot tasks it has. So a
// submitter writes the word that every hook reads only for the first task of a queue, and a holder some time after the
// last one.
//
//	        a submitter: AddPending
//	clear ──────────────────────────────▶ set
//	  ▲                                    │
//	  └──────── the holder: RemovePending ─┘
//
// The mark may be set while the queue has no task, as long as a poller polls; it is not clear for long while the queue
// has one:
//
//	submitter                          holder that has no OneShot task
//	1 the task is in the list          a clear
//	2 clear? then AddPending, and set  b is a task in the list? then set again; else RemovePending
//	  if another submitter was faster
//
// 1 before b: the holder sets it again, or the submitter never saw it clear. b before 1: then a is before 2, and the
// submitter counts the queue anew.
//
// A poller that finds nothing settles the queue: hooks at once, an idle VP after Params.hot, the sleeper before
// it sleeps. While the mark is set pollers poll, or the sleeper sleeps and is woken, as for any pending request.
type mark struct{ word atomic.Uint32 }

func (m *mark) isSet() bool { return m.word.Load() != 0 }

// set sets the mark. It returns false if the mark is set already. The caller has called AddPending before, so that
// the count of pending requests is never less than the marks.
func (m *mark) set() bool { return m.word.CompareAndSwap(0, 1) }

// clear clears the mark. It is a full fence: the holder's look at the list comes after it.
func (m *mark) clear() { m.word.Store(0) }

// settle takes the queue out of the count if it has no OneShot task to run. It is one load if the queue is not counted.
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
	if q.wanted() && q.mark.set() { // b; if set returns false a submitter was faster, and has counted the queue
		return
	}
	q.engine.RemovePending()
}

// wanted reports whether the queue has, or may have, a OneShot task to run. The caller holds the queue.
func (q *Queue) wanted() bool { return q.oneShots != 0 || !q.submitted.empty() }

// list counts a task that enters the main list (n: 1), or leaves it (n: -1). The caller holds the queue.
func (q *Queue) list(t *Task, n int32) {
	q.size += n
	if t.opt&Repeat == 0 {
		q.oneShots += n
	}
}
