package tasklet

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/serial"
	"github.com/pm2-go/pm2/sched"
)

// taskletQueue holds the queued tasklets of one VP. Its holder, one at a time, is the firing that has its lock.
type taskletQueue struct {
	_ [128]byte
	// head, by rank, is the newest of those that were pushed since the last firing. Pushers compare-and-swap it, the
	// holder of the tasklet queue swaps it for nil.
	head [ranks]atomic.Pointer[Tasklet]
	_    [128]byte
	lock tryLock
	// The fields below are the holder's.
	ready        [ranks]taskletList // by rank
	current      *Tasklet           // the tasklet whose function is being called; nil: none
	unfinished   int                // how many firings on threads in a row have left tasklets behind
	index        int                // of the tasklet queue; constant
	helperServes atomic.Bool        // the helper serves the tasklet queue
	_            [128]byte
}

const ranks = 2 // high, normal

// push links t, whose state says queued, into the tasklet queue. first reports whether no other tasklet of its rank was
// pushed since the last firing. From the compare-and-swap on t belongs to the tasklet queue.
func (l *taskletQueue) push(t *Tasklet, rank int) (first bool) {
	at := &l.head[rank]
	for {
		head := at.Load()
		t.next = head
		if at.CompareAndSwap(head, t) {
			return head == nil
		}
	}
}

// hasPushed reports whether something was pushed that no firing has adopted.
func (l *taskletQueue) hasPushed() bool { return l.head[0].Load() != nil || l.head[1].Load() != nil }

// numAdopted returns how many of the adopted tasklets wait.
func (l *taskletQueue) numAdopted() int { return l.ready[0].count + l.ready[1].count }

// fire runs up to limit tasklets, unless another firing runs in the tasklet queue. It returns Quiet if the tasklet
// queue was empty at a moment during the call, and no firing was running one of its tasklets, and Busy if the caller is
// to call again.
func (l *taskletQueue) fire(v *Vector, at hooks.Point, limit int) hooks.Verdict {
	seen := l.lock.word.Load()
	if l.emptySince(seen) {
		return hooks.Quiet
	}
	by := onThread
	if at == hooks.Idle || at == hooks.Timer {
		by = noThread
	}
	if by == onThread && l.helperServes.Load() || !l.lock.take(seen, asm.G()) {
		return hooks.Busy
	}
	if !l.run(v, seen, limit, by) {
		return hooks.Quiet
	}
	v.remind(l.index)
	return hooks.Busy
}

// emptySince reports whether the tasklet queue was empty, and no firing was running one of its tasklets, at the moment
// at which head is read here: from seen on until after that no firing had the lock, so none could have taken a tasklet
// out.
func (l *taskletQueue) emptySince(seen uint64) bool {
	return seen&(lockFree|lockLeft) == lockFree && !l.hasPushed() && l.lock.word.Load() == seen
}

// run is fire with the lock taken. It frees the lock, and reports whether tasklets are left.
func (l *taskletQueue) run(v *Vector, seen uint64, limit int, by firingKind) (more bool) {
	through := false
	defer func() {
		if !through { // the function of a tasklet panics or calls Goexit
			l.abandon(seen)
		}
	}()
	l.adopt()
	// The numbers do not count tasklets that are scheduled again meanwhile: one that schedules itself must not keep the
	// others waiting.
	normal := min(l.ready[1].count, limit)
	first := min(l.ready[0].count, limit-min(normal, limit/4))
	l.serve(v, 0, first)
	l.serve(v, 1, min(normal, limit-first))
	through = true
	more = l.numAdopted() > 0 || l.hasPushed()
	hand := l.checkHandOver(v, by, more)
	l.leave(seen)
	if hand {
		l.spawnHelper(v)
	}
	return more
}

// serve takes n out of one rank and runs them.
func (l *taskletQueue) serve(v *Vector, rank, n int) {
	for range n {
		if v.closed.Load() { // Detach has been here, or waits for our lock
			return
		}
		t := l.ready[rank].pop()
		if t == nil { // the tasklet before has called Kill, which has swept the tasklet queue
			return
		}
		if !t.begin() {
			continue
		}
		l.current = t
		t.fn()
		l.current = nil
		if t.end(l.index) {
			l.ready[rank].append(t)
		}
	}
}

// abandon kills the tasklet whose function did not return (a panic, Goexit), and frees the tasklet queue for the next
// firing.
func (l *taskletQueue) abandon(seen uint64) {
	if t := l.current; t != nil {
		l.current = nil
		t.word.Change(func(s serial.State) serial.State { return s.Kill().Drop() })
	}
	l.leave(seen)
}

// leave frees the lock.
func (l *taskletQueue) leave(seen uint64) { l.lock.give(seen, l.numAdopted() > 0) }

// adopt moves the tasklets that were pushed to the end of ready, the oldest first. The caller holds the tasklet queue.
func (l *taskletQueue) adopt() {
	for rank := range l.head {
		if l.head[rank].Load() == nil {
			continue
		}
		newest := l.head[rank].Swap(nil)
		var chain *Tasklet
		count := 0
		for t := newest; t != nil; count++ {
			next := t.next
			t.next, chain = chain, t
			t = next
		}
		l.ready[rank].join(chain, newest, count)
	}
}

// sweep takes the killed tasklets out of the tasklet queue, or all of them. The caller holds the tasklet queue.
func (l *taskletQueue) sweep(all bool) {
	l.adopt()
	for rank := range l.ready {
		q := &l.ready[rank]
		for range q.count {
			t := q.pop()
			if all || t.word.Load().Has(serial.Killed) {
				t.word.Change(serial.State.Drop)
			} else {
				q.append(t)
			}
		}
	}
}

// trySweep sweeps the tasklet queue if it gets the lock, and reports whether it did.
func (l *taskletQueue) trySweep(all bool) bool {
	seen := l.lock.word.Load()
	if !l.lock.take(seen, asm.G()) {
		return false
	}
	l.sweep(all)
	l.leave(seen)
	return true
}

// taskletList is a queue, first in, first out, linked through the tasklets themselves.
type taskletList struct {
	first, last *Tasklet
	count       int
}

func (l *taskletList) append(t *Tasklet) {
	t.next = nil
	l.join(t, t, 1)
}

// join adds a chain of count tasklets that ends in last, whose next is nil.
func (l *taskletList) join(first, last *Tasklet, count int) {
	if l.last == nil {
		l.first = first
	} else {
		l.last.next = first
	}
	l.last = last
	l.count += count
}

// pop takes the first one out, nil if there is none. Its next is nil then: what it pointed to must not live as long as
// it does.
func (l *taskletList) pop() *Tasklet {
	t := l.first
	if t == nil {
		return nil
	}
	l.first, t.next = t.next, nil
	if l.first == nil {
		l.last = nil
	}
	l.count--
	return t
}

// tryLock is the lock of a tasklet queue, with a memory. While it is taken the word is the identity of the holder's
// goroutine, shifted by one. While it is free the word has lockFree, lockLeft, and the number of times that the lock
// was taken: two equal readings of a free lock mean that no firing had it in between.
type tryLock struct{ word atomic.Uint64 }

const (
	lockFree  = 1 << 0 // the lock is free
	lockLeft  = 1 << 1 // the last holder has left adopted tasklets in the tasklet queue
	lockCount = 1 << 2 // the count begins here
)

// ready makes a zero lock free.
func (t *tryLock) ready() { t.word.Store(lockFree) }

// take tries to get the lock for goroutine g; seen is the caller's last reading of the word.
func (t *tryLock) take(seen uint64, g uintptr) bool {
	return seen&lockFree != 0 && t.word.CompareAndSwap(seen, uint64(g)<<1)
}

// give frees a lock that was taken when its word was seen. left tells the next firings that adopted tasklets wait; they
// cannot see that otherwise.
func (t *tryLock) give(seen uint64, left bool) {
	next := (seen &^ lockLeft) + lockCount
	if left {
		next |= lockLeft
	}
	t.word.Store(next)
}

// is reports whether goroutine g has the lock.
func (t *tryLock) is(g uintptr) bool { return t.word.Load() == uint64(g)<<1 }

// firingKind says what a firing costs: the time of a thread or not.
type firingKind uint8

// The hand-over of a tasklet queue. A thread that switches, yields or enters the library is held up by each tasklet
// that runs there. If tasklets are left again and again, as when tasklets schedule themselves or one another, the
// tasklet queue goes to a helper: a thread of its VP, which the scheduler gives its turns like any other thread (in
// Linux: ksoftirqd).
//
//	                  the (maxUnfinished+1)th firing on a thread in a row leaves tasklets: it hands over
//	hooks serve       -----------------------------------------------------------------------> helper serves
//	unfinished counts                                                                          helperServes is set
//	     ^                                                                                            |
//	     `------------- the helper, with the lock, finds no more tasklets <---------------------------'
//
//   - The holder of the tasklet queue writes unfinished and makes the transitions. unfinished counts
//     firings on threads only, for the others delay no thread; a firing that leaves the tasklet queue
//     empty sets it back to 0.
//   - While helperServes is set firings on threads skip the tasklet queue. Idle and timer firings go
//     on: on them the promise rests that no wake-up is lost, and they bound the delay on a
//     VP whose thread computes.
//   - Only the helper clears helperServes, so there is never a second helper. Tasklets that
//     are pushed between the helper's last look and that are served by the hooks again.
//   - The helper is a new thread each time, which ends when it has no more work, so that
//     the scheduler's Stop does not wait for it. Only firings on threads make it: as long
//     as that thread lives the scheduler cannot have been stopped.

// helperLimit is how many tasklets the helper runs before it yields.
const helperLimit = 32

const (
	onThread firingKind = iota // at Switch, Yield or Library: a thread waits meanwhile
	noThread                   // at Idle, or on the clock: no thread waits
	helper                     // by the helper thread
)

// checkHandOver counts the firings on threads that leave work, and reports whether the caller is to spawn the helper,
// which has the tasklet queue then. If no work is left it takes the tasklet queue back from the helper. Only the holder
// of the tasklet queue calls it.
func (l *taskletQueue) checkHandOver(v *Vector, by firingKind, more bool) (hand bool) {
	if !more {
		l.unfinished = 0
		if by == helper {
			l.helperServes.Store(false)
		}
		return false
	}
	if by != onThread {
		return false
	}
	l.unfinished++
	if l.unfinished <= v.maxUnfinished || l.helperServes.Load() || v.closed.Load() {
		return false
	}
	l.unfinished = 0
	l.helperServes.Store(true)
	return true
}

// spawnHelper makes the helper thread of the tasklet queue.
func (l *taskletQueue) spawnHelper(v *Vector) {
	v.sched.Spawn(sched.Attr{Name: "tasklet helper", VPs: sched.OneVP(l.index), Detached: true}, func() { l.runHelper(v) })
}

// runHelper is the code of the helper thread: it serves the tasklet queue, in turn with the other threads, until it has
// no more work.
func (l *taskletQueue) runHelper(v *Vector) {
	mine := true
	defer func() {
		if mine { // the vector is detached, or a tasklet panics or exits
			l.helperServes.Store(false)
		}
	}()
	for !v.closed.Load() {
		if mine = l.serveTurn(v); !mine {
			return
		}
		sched.Yield()
	}
}

// serveTurn runs some tasklets, and reports whether the helper is to go on.
func (l *taskletQueue) serveTurn(v *Vector) bool {
	seen := l.lock.word.Load()
	return !l.lock.take(seen, asm.G()) || l.run(v, seen, helperLimit, helper)
}
