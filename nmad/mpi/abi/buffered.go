//go:build cgo && linux

package main

import (
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// buffers is the memory that buffered sends of a communicator, a session, or all others may take. The library has
// memory of its own for them: of the program's it goes by the size, so that a program that gives too little hears of
// it here as with another library.
type buffers struct {
	mu        sync.Mutex
	attached  bool      // under mu
	automatic bool      // as much as is needed; under mu
	address   uintptr   // under mu
	size      int       // under mu
	used      int       // under mu
	sent      []pending // under mu
}

// pending is a message that was sent out of attached memory, and may still be leaving.
type pending struct {
	r    *mpi.Request
	size int
}

// overhead is what a message takes of the program's memory besides its data: no more than MPI_BSEND_OVERHEAD, and no
// more than in other libraries, since programs count on what these take.
const overhead = 64

// general is the memory for messages of communicators to which none of their own is attached.
var general buffers

// buffered sends a message by way of attached memory.
func (c *cComm) buffered(e envelope) error {
	x := &general
	switch {
	case c.buffers.has():
		x = &c.buffers
	case c.session != nil && c.session.buffers.has():
		x = &c.session.buffers
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.rank == procNull {
		return nil
	}
	need := e.b.Size() + overhead
	x.reap()
	if !x.attached {
		return wrong(errBuffer, "no buffer is attached (MPI_Buffer_attach)")
	}
	if !x.automatic && x.used+need > x.size {
		return wrong(errBuffer, "%d B and %d B for the message are more than the attached buffer has left, %d of %d", e.b.Size(), overhead, x.size-x.used, x.size)
	}
	packed := make([]byte, e.b.Size())
	e.b.Pack(0, packed)
	b, err := mpi.On(packed)
	if err != nil {
		return err
	}
	x.sent = append(x.sent, pending{c.m.Immediate().Send(b, e.rank, e.tag), need})
	x.used += need
	return nil
}

// has says whether memory is attached.
func (bs *buffers) has() bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	return bs.attached
}

// reap forgets the messages that have left. The caller holds mu.
func (bs *buffers) reap() {
	left := bs.sent[:0]
	for _, p := range bs.sent {
		if over, _, _ := p.r.Test(); over {
			bs.used -= p.size
		} else {
			left = append(left, p)
		}
	}
	clear(bs.sent[len(left):])
	bs.sent = left
}

// attach makes the program's memory that of x.
func (a *cCall) attach(x *buffers, address, size int) error {
	n, err := a.count(size)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.attached {
		return wrong(errBuffer, "a buffer is attached: detach it first")
	}
	x.attached, x.automatic, x.address, x.size = true, a.word[address] == bufferAutomatic, a.word[address], n
	return nil
}

// flush waits until all has left.
func (bs *buffers) flush() (err error) {
	bs.mu.Lock()
	all := append([]pending(nil), bs.sent...)
	bs.mu.Unlock()
	for _, p := range all {
		if _, e := p.r.Wait(); err == nil {
			err = e
		}
	}
	bs.mu.Lock()
	bs.reap()
	bs.mu.Unlock()
	return err
}

// detach takes memory back, once all has left.
func (a *cCall) detach(x *buffers, address, size int) error {
	if err := x.flush(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.attached {
		if err := a.setPtr(address, 0); err != nil {
			return err
		}
		return a.setCount(size, 0)
	}
	at, n := x.address, x.size
	if x.automatic {
		n = 0
	}
	x.attached, x.automatic, x.address, x.size = false, false, 0, 0
	if err := a.setPtr(address, at); err != nil {
		return err
	}
	return a.setCount(size, n)
}

// iflush begins a flush, whose errors an object hears of; nil: none.
func (bs *buffers) iflush(o *object) *cRequest {
	r := mpi.NewRequest(nil)
	go func() { r.Complete(mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, bs.flush()) }()
	return &cRequest{object: o, r: r, sends: true}
}

func (a *cCall) bufferAttach() error     { return a.attach(&general, 0, 1) }
func (a *cCall) bufferDetach() error     { return a.detach(&general, 0, 1) }
func (a *cCall) bufferFlush() error      { return general.flush() }
func (a *cCall) bufferIflush() *cRequest { return general.iflush(nil) }

func (a *cCall) objectAttachBuffer(o *object) error     { return a.attach(&o.buffers, 1, 2) }
func (a *cCall) objectDetachBuffer(o *object) error     { return a.detach(&o.buffers, 1, 2) }
func (a *cCall) objectFlushBuffer(o *object) error      { return o.buffers.flush() }
func (a *cCall) objectIflushBuffer(o *object) *cRequest { return o.buffers.iflush(o) }
