package pioman

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// line is the distance, in bytes, between words that different cores write: two cache lines, since CPUs fetch them in
// pairs.
const line = 128

// roundOutcome is how a round has ended; the outcome of several queues is the greatest.
type roundOutcome uint8

const (
	roundEmpty   roundOutcome = iota // there is no task
	roundSkipped                     // another poller holds the queue
	roundPolled                      // handlers have run, and nothing happened
	roundMoved                       // something happened
)

// Queue is a queue of tasks: a main list, which only the holder of the queue's try-lock touches, and beside it the
// submission list, into which all submitters push. A poller that finds the queue held skips it, and has written
// nothing: no poller spins on the lock (PIOMan, 2009).
//
// The holder polls each task of the main list once a round, at most a bounded number of them; the next round goes on
// where this one stopped. After a whole round the holder begins the next one with the second task, so that
// the task which is polled last changes. To be the last is an advantage: threads that a round has
// woken run in the order of their tasks, and the last of them finds no ready thread behind it, and
// goes on polling.
type Queue struct {
	engine *Engine
	item   *topo.Item  // of the machine; nil: the root
	watch  accessWatch // nil but in simulations

	_         [line]byte
	submitted submissions // submitters push, the holder takes all
	mark      mark        // on the line of submitted, because submitters read and write both; pollers clear it, rarely

	_      [line - 12]byte
	holder atomic.Uintptr // asm.G of the goroutine that holds the queue, 0: it is free; enter compares and swaps, exit stores with release
	count  atomic.Int32   // twice the length of the main list, plus 1 while flooded; the holder writes, pollers read

	_ [line - 8]byte
	// Only the holder uses the fields below; enter and exit order the accesses of successive holders.
	head, tail *Task
	current    *Task  // the task whose handler runs, which stays the head meanwhile; nil: none
	roundNo    uint32 // number of the round
	size       int32  // length of the main list; exit stores it in count
	oneShots   int32  // OneShot tasks in the main list: see mark.go
	flooded    bool   // the last drain brought many tasks: see drain

	_ [line]byte
}

// nothing reports whether a poller may pass the queue by. It is two loads, and writes nothing. It looks at the
// submission list last: that is on the submitters' cache line, which a poller that has tasks leaves to them.
func (q *Queue) nothing() bool { return q.count.Load() == 0 && q.submitted.empty() }

// length is the length of the main list when the last holder left.
func (q *Queue) length() int { return int(q.count.Load() >> 1) }

// held reports whether goroutine g is the holder.
func (q *Queue) held(g uintptr) bool { return q.holder.Load() == g }

// enter tries to become the holder. It loads before it swaps, so that a poller which fails has mostly written nothing.
func (q *Queue) enter() bool {
	if q.holder.Load() != 0 {
		q.tell(skip)
		return false
	}
	q.tell(lock) // another poller may be faster
	return q.holder.CompareAndSwap(0, asm.G())
}

// exit ends what enter began.
func (q *Queue) exit() {
	q.tell(unlock)
	n := q.size << 1
	if q.flooded {
		n++
	}
	if q.count.Load() != n {
		q.count.Store(n)
	}
	asm.StoreReleasePtr(&q.holder, 0)
}

// round makes a round of at most budget tasks, unless there is nothing, or another poller holds the queue.
func (q *Queue) round(budget int) roundOutcome {
	if q.nothing() {
		return roundEmpty
	}
	return q.pollAll(budget)
}

// pollAll is round for a queue that is not empty.
func (q *Queue) pollAll(budget int) (out roundOutcome) {
	if !q.enter() {
		return roundSkipped
	}
	defer q.leave() // when a handler panics out keeps its present value
	q.roundNo++
	q.drain(q.roundNo - 1)
	for range budget {
		t := q.head
		if t == nil || t.roundNo == q.roundNo {
			break
		}
		t.roundNo = q.roundNo
		if !t.state.take() {
			q.removeHead()
			q.drop(t)
			continue
		}
		if out == roundEmpty {
			out = roundPolled
		}
		q.current = t
		var status Status
		if sched.Tracing() {
			status = traced(t)
		} else {
			status = t.fn(t)
		}
		q.current = nil
		if status != Done && t.opt&Repeat != 0 && !t.state.canceling() {
			if status == Moved {
				out = roundMoved
			}
			q.rotate()
			continue
		}
		out = roundMoved
		q.removeHead()
		if status != Done && t.state.canceling() {
			q.drop(t)
		} else {
			q.end(t, 0)
		}
	}
	if t := q.head; t != nil && t.roundNo == q.roundNo && t.opt&Repeat != 0 {
		q.rotate() // all tasks have been polled: the next round begins with the second one
	}
	return out
}

// traced runs the handler of t and records it, unless nothing happened.
func traced(t *Task) Status {
	name, began := t.name, asm.Cycles()
	status := t.fn(t)
	if status != Again {
		sched.TraceSlice(sched.TraceTask, name, began)
	}
	return status
}

// leave is the deferred end of a round. If a handler has not returned it has panicked, or ended its goroutine: leave
// ends its task, with Failed, and releases the queue.
func (q *Queue) leave() {
	t := q.current
	if t == nil {
		q.exit()
		return
	}
	p := &PanicError{Task: t.name, Value: recover(), Stack: debug.Stack()}
	q.current = nil
	q.removeHead()
	q.end(t, Failed)
	q.exit()
	q.engine.panicked(p)
}

// end ends a task whose handler has returned for the last time. After the store in state.end its owner may reuse the
// memory.
func (q *Queue) end(t *Task, extra uint32) {
	c, bits, opt := t.notify, t.bits, t.opt
	t.state.end()
	q.engine.countBlind(opt, -1)
	if c != nil {
		c.Signal(bits | extra)
	}
}

// drop ends a canceled task. After the store in state.drop its owner may reuse the memory.
func (q *Queue) drop(t *Task) {
	opt := t.opt
	t.state.drop()
	q.engine.countBlind(opt, -1)
}

// flood is the number of tasks in one drain from which on the next drain is likely to find some, too.
const flood = 8

// drain moves the submission list to the end of the main list. The new tasks count as polled in round roundNo.
//
// The holder looks before it takes the list, so that it writes nothing if the list is empty. While tasks come in
// floods it does not look: between the look and the exchange a submitter would take the cache line back,
// and the holder would wait for it twice. The first drain that brings few tasks ends that.
func (q *Queue) drain(roundNo uint32) {
	if !q.flooded {
		q.tell(peek)
		if q.submitted.empty() {
			return
		}
	}
	q.tell(drain)
	n := 0
	for t := q.submitted.takeAll(); t != nil; n++ {
		next := t.next
		t.roundNo = roundNo
		q.append(t)
		t = next
	}
	q.flooded = n >= flood
}

// rotate moves the head to the end.
func (q *Queue) rotate() {
	t := q.head
	if t == q.tail {
		return
	}
	q.head, t.next = t.next, nil
	q.tail.next = t
	q.tail = t
}

// removeHead takes the first task out of the main list.
func (q *Queue) removeHead() {
	t := q.head
	q.head, t.next = t.next, nil
	if q.head == nil {
		q.tail = nil
	}
	q.list(t, -1)
}

// sweep drops every task that is being canceled, except the one whose handler runs. The holder calls it, between
// rounds or from inside a handler.
func (q *Queue) sweep() {
	q.drain(q.roundNo) // inside a handler: the present round does not poll the new tasks
	t := q.head
	q.head, q.tail, q.size, q.oneShots = nil, nil, 0, 0
	for t != nil {
		next := t.next
		if t.next = nil; t != q.current && t.state.canceling() {
			q.drop(t)
		} else {
			q.append(t)
		}
		t = next
	}
	q.clearMark()
}

// cancelAll cancels and drops every task but the one whose handler runs. The caller holds the queue.
func (q *Queue) cancelAll() {
	q.drain(q.roundNo)
	for t := q.head; t != nil; t = t.next {
		t.state.cancel()
	}
	q.sweep()
}

// submissions is the lock-free list beside a queue: any number of producers, one consumer, which takes all of it at
// once. A Treiber stack; since no consumer ever pops a single node, it has no ABA problem. A push takes effect at its
// compare-and-swap, a takeAll at its swap.
type submissions struct {
	head atomic.Pointer[Task] // newest first; producers write, the consumer swaps
}

// push adds a task. Never blocks; repeats while other producers get in between.
func (sub *submissions) push(t *Task) {
	for {
		h := sub.head.Load()
		t.next = h
		if sub.head.CompareAndSwap(h, t) {
			return
		}
	}
}

// empty is one load.
func (sub *submissions) empty() bool { return sub.head.Load() == nil }

// takeAll empties the list and returns it oldest first, linked by next. It writes the line, also if there is nothing.
func (sub *submissions) takeAll() *Task {
	t := sub.head.Swap(nil)
	if t == nil || t.next == nil {
		return t
	}
	var first *Task
	for t != nil {
		older := t.next
		t.next = first
		first, t = t, older
	}
	return first
}

// append puts a task at the end of the main list.
func (q *Queue) append(t *Task) {
	t.next = nil
	if q.tail == nil {
		q.head = t
	} else {
		q.tail.next = t
	}
	q.tail = t
	q.list(t, 1)
}
