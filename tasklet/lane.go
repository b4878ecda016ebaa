package tasklet

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/serial"
	"github.com/pm2-go/pm2/sched"
)

// lane holds the queued tasklets of one virtual processor.
type lane struct {
	_ [128]byte
	// head, by rank, is the newest of those that were pushed since the last firing.
	// Pushers compare-and-swap it, the holder of the lane swaps it for nil.
	head [ranks]atomic.Pointer[Tasklet]
	_    [128]byte
	lock tryLock
	// The fields below are the holder's.
	ready   [ranks]taskletList // by rank
	current *Tasklet           // whose function is being called
	row     int                // how many firings on threads in a row have left tasklets behind
	index   int                // of the lane; constant
	handed  atomic.Bool        // the helper is in charge
	_       [128]byte
}

const ranks = 2 // high, normal

// push links t, whose state says queued, into the lane; first tells whether there
// was nothing else of its rank to be seen. From the compare-and-swap on t belongs to
// the lane.
func (l *lane) push(t *Tasklet, rank int) (first bool) {
	at := &l.head[rank]
	for {
		head := at.Load()
		t.next = head
		if at.CompareAndSwap(head, t) {
			return head == nil
		}
	}
}

// fresh tells whether something was pushed that no firing has adopted.
func (l *lane) fresh() bool { return l.head[0].Load() != nil || l.head[1].Load() != nil }

// left returns how many of the adopted tasklets wait.
func (l *lane) left() int { return l.ready[0].count + l.ready[1].count }

// fire runs up to limit tasklets, unless another firing runs in the lane. It returns Quiet if the lane was empty at a
// moment during the call, and no firing was running one of its tasklets, and Busy if the caller is to call again.
func (l *lane) fire(v *Vector, at hooks.Point, limit int) hooks.Verdict {
	seen := l.lock.word.Load()
	if l.emptySince(seen) {
		return hooks.Quiet
	}
	by := onThread
	if at == hooks.Idle || at == hooks.Timer {
		by = aside
	}
	if by == onThread && l.handed.Load() || !l.lock.take(seen, asm.G()) {
		return hooks.Busy
	}
	if !l.run(v, seen, limit, by) {
		return hooks.Quiet
	}
	v.remind(l.index)
	return hooks.Busy
}

// emptySince tells whether the lane was empty, and no firing was running one of its
// tasklets, at the moment at which head is read here: from seen on until after that no
// firing had the lock, so none could have taken a tasklet out.
func (l *lane) emptySince(seen uint64) bool {
	return seen&(lockFree|lockLeft) == lockFree && !l.fresh() && l.lock.word.Load() == seen
}

// run is fire with the lock taken; it tells whether there is more to do.
func (l *lane) run(v *Vector, seen uint64, limit int, by server) (more bool) {
	through := false
	defer func() {
		if !through { // a panic or a Goexit goes through us
			l.abandon(seen)
		}
	}()
	l.adopt()
	// Not those that come back meanwhile: a tasklet that schedules itself must not keep
	// the others waiting.
	normal := min(l.ready[1].count, limit)
	first := min(l.ready[0].count, limit-min(normal, limit/4))
	l.serve(v, 0, first)
	l.serve(v, 1, min(normal, limit-first))
	through = true
	more = l.left() > 0 || l.fresh()
	hand := l.restarted(v, by, more)
	l.leave(seen)
	if hand {
		l.help(v)
	}
	return more
}

// serve takes n out of one rank and runs them.
func (l *lane) serve(v *Vector, rank, n int) {
	for range n {
		if v.closed.Load() { // Detach has been here, or waits for our lock
			return
		}
		t := l.ready[rank].pop()
		if t == nil { // swept by a Kill from the last one
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

// abandon kills a tasklet that did not return (a panic, Goexit) and frees the lane, which goes on.
func (l *lane) abandon(seen uint64) {
	if t := l.current; t != nil {
		l.current = nil
		t.word.Change(func(s serial.State) serial.State { return s.Kill().Drop() })
	}
	l.leave(seen)
}

// leave frees the lock.
func (l *lane) leave(seen uint64) { l.lock.give(seen, l.left() > 0) }

// adopt moves what was pushed to the end of ready, the oldest first. The caller holds the lane.
func (l *lane) adopt() {
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

// sweep takes the killed tasklets out of the lane, or all of them. The caller holds the lane.
func (l *lane) sweep(all bool) {
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

// visit sweeps the lane if it gets the lock.
func (l *lane) visit(all bool) bool {
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

// pop takes the first one out, nil if there is none. Its next is nil then: what it
// pointed to must not live as long as it does.
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

// tryLock is the lock of a lane, which remembers. Taken, it is
// the goroutine's identity with a 0 appended. Free, it is the number of times
// that it has been taken, whether work was left, and a 1: two equal readings of a
// free lock mean that no firing had it in between.
type tryLock struct{ word atomic.Uint64 }

const (
	lockFree  = 1 << 0
	lockLeft  = 1 << 1
	lockCount = 1 << 2 // the count begins here
)

// ready makes a zero lock free.
func (t *tryLock) ready() { t.word.Store(lockFree) }

// take tries to get the lock, seen as the last reading of word, for goroutine g.
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

// is tells whether goroutine g has the lock.
func (t *tryLock) is(g uintptr) bool { return t.word.Load() == uint64(g)<<1 }

// server says which kind of firing runs tasklets of a lane.
type server uint8

// A thread that switches, yields or enters the library is held up by each tasklet
// that runs there. If work is left again and again, which is so if tasklets schedule
// themselves or one another, the lane goes to a helper: a thread of its processor,
// which the scheduler gives its turns like any other one (in Linux: ksoftirqd).
//
//	                 a firing on a thread leaves work, for the (bound+1)-th
//	                 time in a row, and hands over
//	hooks serve  ------------------------------------------------------> helper serves
//	  row 0..bound                                                          handed
//	     ^                                                                    |
//	     `------------- the helper, with the lock, finds no more work <-------'
//
//   - row and the transitions belong to the holder of the lane. Row counts firings on
//     threads only, for the others delay no thread; it begins again when the lane is left empty.
//   - handed: firings on threads pass the lane by. Idle and timer firings go on: they
//     are what the promise not to lose a wake-up rests on, and they bound the delay
//     on a processor whose thread computes.
//   - Only the helper clears handed; so there is never a second one. What is pushed
//     between its last look and that finds the hooks again, like any other push.
//   - It is a thread, made for each time, so that none is left over for which the
//     scheduler's Stop would wait. Only firings on threads make it: as long as that
//     thread lives the scheduler cannot have been stopped.

// helperLimit is how many tasklets the helper runs before it yields.
const helperLimit = 32

const (
	onThread server = iota // a firing at the cost of a thread that wants to go on
	aside                  // one at an idle processor, or on the clock
	helper
)

// restarted counts the restarts, and tells whether the caller is to hand the lane over; then it has done so except for the
// call of the helper. Or it takes the lane back from the helper. Only the holder of the lane calls it.
func (l *lane) restarted(v *Vector, by server, more bool) (hand bool) {
	if !more {
		l.row = 0
		if by == helper {
			l.handed.Store(false)
		}
		return false
	}
	if by != onThread {
		return false
	}
	l.row++
	if l.row <= v.bound || l.handed.Load() || v.closed.Load() {
		return false
	}
	l.row = 0
	l.handed.Store(true)
	return true
}

// help makes the helper of a lane that is handed.
func (l *lane) help(v *Vector) {
	v.sched.Spawn(sched.Attr{Name: "tasklet helper", VPs: sched.OneVP(l.index), Detached: true}, func() { l.assist(v) })
}

// assist is the helper.
func (l *lane) assist(v *Vector) {
	mine := true
	defer func() {
		if mine { // the vector is detached, or a tasklet panics or exits
			l.handed.Store(false)
		}
	}()
	for !v.closed.Load() {
		if mine = l.pass(v); !mine {
			return
		}
		sched.Yield()
	}
}

// pass runs some tasklets and tells whether the lane is still the helper's.
func (l *lane) pass(v *Vector) bool {
	seen := l.lock.word.Load()
	return !l.lock.take(seen, asm.G()) || l.run(v, seen, helperLimit, helper)
}
