package taskqueue

import (
	"errors"
	"sync/atomic"
)

// ErrFull reports that the ring has no room. The caller polls and tries again.
var ErrFull = errors.New("the global ring is full")

// ringSize is a power of two.
const ringSize = 1 << 12

// FIFO is one global lock-free queue: Dmitry Vyukov's bounded ring, in which a cell's number says whose turn it is.
// Submitters and pollers each exchange one index; a poller that comes too late for it tries the next.
type FIFO struct {
	touch Touch

	_    [apart]byte
	tail atomic.Uint64 // submitters write
	_    [apart - 8]byte
	head atomic.Uint64 // pollers write
	_    [apart - 8]byte
	ring [ringSize]cell
}

type cell struct {
	turn atomic.Uint64
	job  *Job // the submitter's, then the poller's, as turn says
	_    [apart - 16]byte
}

const (
	tailLine = iota
	headLine
	firstCell
)

// NewFIFO makes one.
func NewFIFO(touch Touch) *FIFO {
	f := &FIFO{touch: touch}
	for i := range f.ring {
		f.ring[i].turn.Store(uint64(i))
	}
	return f
}

func (f *FIFO) tell(part int, k Kind) {
	if f.touch != nil {
		f.touch(Line{nil, part}, k)
	}
}

// Name implements Queues.
func (*FIFO) Name() string { return "global lock-free FIFO" }

// Prepare implements Queues.
func (*FIFO) Prepare(*Job) {}

// Submit implements Queues.
func (f *FIFO) Submit(j *Job) error {
	j.finished.Store(0)
	for {
		f.tell(tailLine, Read)
		at := f.tail.Load()
		c := &f.ring[at%ringSize]
		f.tell(firstCell+int(at%ringSize), Read)
		switch turn := c.turn.Load(); {
		case turn == at:
			f.tell(tailLine, Write)
			if f.tail.CompareAndSwap(at, at+1) {
				f.tell(firstCell+int(at%ringSize), Write)
				c.job = j
				c.turn.Store(at + 1)
				return nil
			}
		case turn < at:
			return ErrFull
		}
	}
}

func (f *FIFO) pop() *Job {
	for {
		f.tell(headLine, Read)
		at := f.head.Load()
		c := &f.ring[at%ringSize]
		f.tell(firstCell+int(at%ringSize), Read)
		switch turn := c.turn.Load(); {
		case turn == at+1:
			f.tell(headLine, Write)
			if f.head.CompareAndSwap(at, at+1) {
				f.tell(firstCell+int(at%ringSize), Write)
				j := c.job
				c.job = nil
				c.turn.Store(at + ringSize)
				return j
			}
		case turn <= at:
			return nil
		}
	}
}

// Poll implements Queues.
func (f *FIFO) Poll(int) {
	f.tell(0, Visit)
	for range most {
		j := f.pop()
		if j == nil {
			return
		}
		j.run(f.touch)
	}
}

// Finished implements Queues.
func (*FIFO) Finished(j *Job) bool { return j.finished.Load() != 0 }

// Close implements Queues.
func (*FIFO) Close() error { return nil }
