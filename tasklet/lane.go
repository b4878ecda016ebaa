package tasklet

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/serial"
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
	ready   [ranks]list // by rank
	current *Tasklet    // whose function is being called
	row     int         // how many firings on threads in a row have left tasklets behind; see help.go
	index   int         // of the lane; constant
	handed  atomic.Bool // the helper is in charge: see help.go
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

// fire runs up to limit tasklets, unless another firing is at it. Quiet: the lane was
// empty at a moment during the call, and no firing was running one of its tasklets. Busy:
// call again.
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

// adopt moves what was pushed to the end of ready, the oldest first. For the holder of the lane.
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

// sweep takes the killed tasklets out of the lane, or all of them. For the holder of the lane.
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

// list is a queue, first in, first out, linked through the tasklets themselves.
type list struct {
	first, last *Tasklet
	count       int
}

func (l *list) append(t *Tasklet) {
	t.next = nil
	l.join(t, t, 1)
}

// join adds a chain of count tasklets that ends in last, whose next is nil.
func (l *list) join(first, last *Tasklet, count int) {
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
func (l *list) pop() *Tasklet {
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

// give frees a lock whose word was seen when it was taken. left tells the next firings that adopted
// tasklets wait, which they cannot see otherwise.
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
