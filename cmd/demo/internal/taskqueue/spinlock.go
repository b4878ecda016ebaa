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

func (l *locked) tell(part int, k Kind) {
	if l.touch != nil {
		l.touch(Line{l.of, part}, k)
	}
}

func (l *locked) acquire() {
	for i := 1; ; i++ {
		l.tell(lockLine, Read)
		if l.lock.Load() == 0 {
			l.tell(lockLine, Write)
			if l.lock.CompareAndSwap(0, 1) {
				return
			}
		}
		l.tell(lockLine, Fail)
		if i%patience == 0 {
			kernel.Yield()
		} else {
			asm.Pause()
		}
	}
}

func (l *locked) release() {
	l.tell(lockLine, Write)
	asm.StoreRelease32(&l.lock, 0)
}

func (l *locked) push(j *Job) {
	j.next = nil
	l.acquire()
	l.tell(listLine, Write)
	if l.tail == nil {
		l.head = j
		l.some.Store(1)
	} else {
		l.tail.next = j
	}
	l.tail = j
	l.release()
}

// pop returns nil if there is none. It locks only if there was one.
func (l *locked) pop() *Job {
	l.tell(listLine, Read)
	if l.some.Load() == 0 {
		return nil
	}
	l.acquire()
	l.tell(listLine, Write)
	j := l.head
	if j != nil {
		if l.head = j.next; l.head == nil {
			l.tail = nil
			l.some.Store(0)
		}
	}
	l.release()
	return j
}

// most is how many jobs a round runs at most in one queue, as the engine's does.
const most = 64

// drain runs what there is.
func (l *locked) drain() {
	if l.touch != nil {
		l.touch(Line{Of: l.of}, Visit)
	}
	for range most {
		j := l.pop()
		if j == nil {
			return
		}
		j.run(l.touch)
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
