//go:build cgo && linux

package main

import (
	"sync"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// buffers is the memory that a program attaches for the buffered sends of a communicator, of a session, or of all
// others. The library copies messages into memory of its own, and only counts how much of the program's they would
// take: so a program that attaches too little gets the same error as with other libraries.
type buffers struct {
	mu        sync.Mutex
	attached  bool          // the program has attached memory; under mu
	automatic bool          // of any size (MPI_BUFFER_AUTOMATIC); under mu
	address   uintptr       // of the memory; under mu
	size      int           // bytes; under mu
	used      int           // bytes that sends under way take; under mu
	sent      []pendingSend // sends under way; under mu
}

// pendingSend is a buffered send that may not be complete.
type pendingSend struct {
	req  *mpi.Request
	size int // bytes that it takes of the attached memory
}

// overhead is what a buffered send takes of the attached memory besides its data, in bytes: at most
// MPI_BSEND_OVERHEAD, and no more than in other libraries, since programs count on that.
const overhead = 64

// defaultBuffers is the memory of MPI_Buffer_attach: for communicators to which none is attached.
var defaultBuffers buffers

// sendBuffered copies a message and begins to send it. It does not wait for the send.
func (c *cComm) sendBuffered(e envelope) error {
	x := &defaultBuffers
	switch {
	case c.buffers.isAttached():
		x = &c.buffers
	case c.session != nil && c.session.buffers.isAttached():
		x = &c.session.buffers
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.rank == mpiProcNull {
		return nil
	}
	need := e.buffer.Size() + overhead
	x.reap()
	if !x.attached {
		return errorf(errBuffer, "no buffer is attached (MPI_Buffer_attach)")
	}
	if !x.automatic && x.used+need > x.size {
		return errorf(errBuffer, "%d B and %d B for the message are more than the attached buffer has left, %d of %d", e.buffer.Size(), overhead, x.size-x.used, x.size)
	}
	packed := make([]byte, e.buffer.Size())
	e.buffer.Pack(0, packed)
	b, err := mpi.On(packed)
	if err != nil {
		return err
	}
	x.sent = append(x.sent, pendingSend{c.p2p.Immediate().Send(b, e.rank, e.tag), need})
	x.used += need
	return nil
}

// isAttached reports whether the program has attached memory.
func (bs *buffers) isAttached() bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	return bs.attached
}

// reap forgets completed sends. The caller holds mu.
func (bs *buffers) reap() {
	remaining := bs.sent[:0]
	for _, p := range bs.sent {
		if over, _, _ := p.req.Test(); over {
			bs.used -= p.size
		} else {
			remaining = append(remaining, p)
		}
	}
	clear(bs.sent[len(remaining):])
	bs.sent = remaining
}

// attach attaches the memory at argument address to x. Argument size is its size in bytes.
func (a *cCall) attach(x *buffers, address, size int) error {
	n, err := a.count(size)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.attached {
		return errorf(errBuffer, "a buffer is attached: detach it first")
	}
	x.attached, x.automatic, x.address, x.size = true, a.word[address] == mpiBufferAutomatic, a.word[address], n
	return nil
}

// flush blocks until all buffered sends are complete.
func (bs *buffers) flush() (err error) {
	bs.mu.Lock()
	all := append([]pendingSend(nil), bs.sent...)
	bs.mu.Unlock()
	for _, p := range all {
		if _, e := p.req.Wait(); err == nil {
			err = e
		}
	}
	bs.mu.Lock()
	bs.reap()
	bs.mu.Unlock()
	return err
}

// detach detaches the memory of x, once all buffered sends are complete, and writes its address and size to the
// arguments.
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

// iflush begins a flush. Its errors go to the error handler of o, if that is not nil.
func (bs *buffers) iflush(o *object) *cRequest {
	r := mpi.NewRequest(nil)
	go func() { r.Complete(mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}, bs.flush()) }()
	return &cRequest{object: o, req: r, noStatus: true}
}

func (a *cCall) bufferAttach() error     { return a.attach(&defaultBuffers, 0, 1) }
func (a *cCall) bufferDetach() error     { return a.detach(&defaultBuffers, 0, 1) }
func (a *cCall) bufferFlush() error      { return defaultBuffers.flush() }
func (a *cCall) bufferIflush() *cRequest { return defaultBuffers.iflush(nil) }

func (a *cCall) objectAttachBuffer(o *object) error     { return a.attach(&o.buffers, 1, 2) }
func (a *cCall) objectDetachBuffer(o *object) error     { return a.detach(&o.buffers, 1, 2) }
func (a *cCall) objectFlushBuffer(o *object) error      { return o.buffers.flush() }
func (a *cCall) objectIflushBuffer(o *object) *cRequest { return o.buffers.iflush(o) }
