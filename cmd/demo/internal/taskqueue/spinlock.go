package taskqueue

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
)

// locked is a list of jobs under a spinlock that tests before it sets. A thread that waits long
// gives the CPU away: the holder may not run.
type locked struct {
	of    any
	touch Touch

	_    [apart]byte
	lock atomic.Uint32
	_    [apart - 4]byte
	head *Job // under lock
	tail *Job
	some atomic.Uint32 // whether there is a job: TD09 looks before it locks
	_    [apart]byte
}

const (
	lockLine = iota
	listLine
)

// patience is how often a waiter looks before it gives the CPU away.
const patience = 1 << 12

func (lk *locked) tell(part int, k Kind) {
	if lk.touch != nil {
		lk.touch(Line{lk.of, part}, k)
	}
}

func (lk *locked) acquire() {
	for i := 1; ; i++ {
		lk.tell(lockLine, Read)
		if lk.lock.Load() == 0 {
			lk.tell(lockLine, Write)
			if lk.lock.CompareAndSwap(0, 1) {
				return
			}
		}
		lk.tell(lockLine, Fail)
		if i%patience == 0 {
			kernel.Yield()
		} else {
			asm.Pause()
		}
	}
}

func (lk *locked) release() {
	lk.tell(lockLine, Write)
	asm.StoreRelease32(&lk.lock, 0)
}

func (lk *locked) push(j *Job) {
	j.next = nil
	lk.acquire()
	lk.tell(listLine, Write)
	if lk.tail == nil {
		lk.head = j
		lk.some.Store(1)
	} else {
		lk.tail.next = j
	}
	lk.tail = j
	lk.release()
}

// pop returns nil if there is none. It locks only if there was one.
func (lk *locked) pop() *Job {
	lk.tell(listLine, Read)
	if lk.some.Load() == 0 {
		return nil
	}
	lk.acquire()
	lk.tell(listLine, Write)
	j := lk.head
	if j != nil {
		if lk.head = j.next; lk.head == nil {
			lk.tail = nil
			lk.some.Store(0)
		}
	}
	lk.release()
	return j
}

// most is how many jobs a round runs at most in one queue, as the engine's does.
const most = 64

// drain runs what there is.
func (lk *locked) drain() {
	if lk.touch != nil {
		lk.touch(Line{Of: lk.of}, Visit)
	}
	for range most {
		j := lk.pop()
		if j == nil {
			return
		}
		j.run(lk.touch)
	}
}

// Spinlock is one global queue under a spinlock.
type Spinlock struct{ q locked }

// NewSpinlock makes one.
func NewSpinlock(touch Touch) *Spinlock { return &Spinlock{locked{touch: touch}} }

// Name implements Queues.
func (*Spinlock) Name() string { return "global spinlock" }

// Prepare implements Queues.
func (*Spinlock) Prepare(*Job) {}

// Submit implements Queues.
func (s *Spinlock) Submit(j *Job) error {
	j.finished.Store(0)
	s.q.push(j)
	return nil
}

// Poll implements Queues.
func (s *Spinlock) Poll(int) { s.q.drain() }

// Finished implements Queues.
func (*Spinlock) Finished(j *Job) bool { return j.finished.Load() != 0 }

// Close implements Queues.
func (*Spinlock) Close() error { return nil }
