package pio

import (
	"errors"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// ring is an io_uring on an engine: a task finds what is complete by looking at memory,
// and the ring's descriptor is a source. It is here to be measured beside what the
// package does: docs/decisions/how-descriptors-wait.md.
//
//	submitter, under mu                     kernel                task, one poller at a time
//	───────────────────                     ──────                ──────────────────────────
//	take a request from the free list
//	write the entry, move sqTail
//	inFlight+1; io_uring_enter ───────────▶ starts the transfer
//	Completion.Wait                         writes a cqe, moves
//	                                        cqTail ─────────────▶ cqTail != cqHead: take the
//	                                                              result, move cqHead,
//	gives the request back ◀───────────────────────────────────── inFlight-1, Signal
//
// There are as many requests as submission entries, and more completion entries: so
// neither queue can overflow.
type ring struct {
	*ringMemory
	engine   *pioman.Engine
	task     pioman.Task
	requests []request

	mu   marcel.Mutex // submitting, and the free list
	free []uint32

	_        [line]byte
	inFlight atomic.Int32 // submitters add; the task subtracts
}

// request is one transfer.
type request struct {
	done pioman.Completion
	res  int32  // written before done is signalled
	buf  []byte // the kernel writes into it
}

// ringEntries is how many transfers may be under way.
const ringEntries = 64

// newRing skips the benchmark if the kernel has none for us.
func newRing(b testing.TB, g *rig) *ring {
	m, err := openRing(ringEntries, opRead, opWrite, opAccept, opRecv)
	if err != nil {
		b.Skip(err)
	}
	x := &ring{ringMemory: m, engine: g.engine, requests: make([]request, len(m.sqes))}
	for i := range x.requests {
		x.free = append(x.free, uint32(i))
	}
	x.task.Init("ring", x.reap, pioman.Repeat)
	check(b, g.engine.AddSource(x))
	check(b, g.engine.Submit(&x.task))
	b.Cleanup(func() {
		check(b, x.task.Cancel())
		g.engine.RemoveSource(x)
		x.close()
	})
	return x
}

func (x *ring) Descriptor() int { return x.fd }
func (x *ring) Arm() bool       { return true }
func (x *ring) Disarm()         {}

// transfer reads or writes a file.
func (x *ring) transfer(way, fd int, p []byte, off int64) (int, error) {
	return x.via([2]uint8{opRead, opWrite}[way], fd, p, off)
}

// via makes any operation through the ring and waits for its end.
func (x *ring) via(op uint8, fd int, p []byte, off int64) (int, error) {
	i := x.submit(op, fd, p, off)
	if i < 0 {
		return 0, errors.New("no request free")
	}
	defer x.release(i)
	if err := x.requests[i].done.Wait(x.engine, signalled); err != nil {
		return 0, err
	}
	if res := x.requests[i].res; res < 0 {
		return 0, unix.Errno(-res)
	}
	return int(x.requests[i].res), nil
}

// submit hands a transfer to the kernel and returns its request; -1: not possible now.
func (x *ring) submit(op uint8, fd int, p []byte, off int64) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.free) == 0 {
		return -1
	}
	i := x.free[len(x.free)-1]
	q := &x.requests[i]
	q.done.Reset()
	q.buf = p
	tail := x.sqTail.Load()
	at := tail & x.sqMask
	x.sqes[at].set(op, fd, p, off, uint64(i))
	x.array[at] = at
	x.inFlight.Add(1) // before the kernel can complete it
	x.sqTail.Store(tail + 1)
	for {
		n, errno := x.enter(1, 0)
		if n == 1 && errno == 0 || x.sqHead.Load() != tail {
			x.free = x.free[:len(x.free)-1]
			return int(i)
		}
		if errno != unix.EINTR {
			break
		}
	}
	x.sqTail.Store(tail) // the kernel has not taken it, and looks only when entered
	x.inFlight.Add(-1)
	q.buf = nil
	return -1
}

func (x *ring) release(i int) {
	x.requests[i].buf = nil
	x.mu.Lock()
	x.free = append(x.free, uint32(i))
	x.mu.Unlock()
}

// reap is the task's handler.
func (x *ring) reap(*pioman.Task) pioman.Status {
	status := pioman.Again
	if x.inFlight.Load() == 0 {
		return status
	}
	for head := x.cqHead.Load(); head != x.cqTail.Load(); head++ {
		c := &x.cqes[head&x.cqMask]
		q := &x.requests[c.user]
		q.res = c.res
		x.cqHead.Store(head + 1) // the kernel may use the entry again
		x.inFlight.Add(-1)
		q.done.Signal(signalled)
		status = pioman.Moved
	}
	return status
}

// alone makes one operation with no one's help: it waits in io_uring_enter, and there is
// no other one in the ring. What the ring itself costs.
func (x *ring) alone(op uint8, fd int, p []byte, off int64) (int, error) {
	tail := x.sqTail.Load()
	at := tail & x.sqMask
	x.sqes[at].set(op, fd, p, off, 0)
	x.array[at] = at
	x.sqTail.Store(tail + 1)
	if _, errno := x.enter(1, 1); errno != 0 {
		return 0, errno
	}
	head := x.cqHead.Load()
	if head == x.cqTail.Load() {
		return 0, errors.New("woken without a completion")
	}
	res := x.cqes[head&x.cqMask].res
	x.cqHead.Store(head + 1)
	if res < 0 {
		return 0, unix.Errno(-res)
	}
	return int(res), nil
}
