package rma

import (
	"errors"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// slots is how many requests of others may be taken in at once, of all of them together. More wait as messages do that have no receive.
const slots = 16

// slot is a receive of a request from any process.
type slot struct {
	w       *World
	request nmad.Request
	op      nmad.Op
	buf     [headBytes + inlineBytes]byte
}

// serve posts the receives of requests. From then on the engine answers them.
func (w *World) serve() error {
	w.slots = make([]slot, slots)
	requests := w.contexts[contextRequests-FirstContext]
	for i := range w.slots {
		s := &w.slots[i]
		s.w = w
		s.op = nmad.Op{Kind: nmad.OpRecv, Match: nmad.Match{Context: requests}, Buf: s.buf[:], Done: s.came}
		if err := s.post(); err != nil {
			return err
		}
	}
	return nil
}

func (s *slot) post() error { return s.w.s.Post(nmad.AnySource, &s.request, &s.op) }

// came is called when a request has come: of one process one at a time, of different ones at once. It must not wait.
func (s *slot) came(r *nmad.Request) {
	switch _, err := r.Test(); {
	case err == nil:
		s.w.handle(r.Source(), s.buf[:r.Len()])
	case !errors.Is(err, nmad.ErrTruncated): // which is no request
		return // the World is being closed, or no other process is left
	}
	_ = s.post() // closed meanwhile
}

// handle does what a process asks for.
func (w *World) handle(rank int, b []byte) {
	if len(b) == headBytes && b[0] == headWake {
		w.signalled.ring()
	}
}

// end takes the receives of requests back.
func (w *World) end() {
	for i := range w.slots {
		w.slots[i].request.Cancel()
	}
}

const (
	headBytes   = 64
	inlineBytes = 8 << 10
	headWake    = 1
)

// waker is the message of nothing that has the threads of another process look again.
//
//	idle --- wake ---> sent --- wake ---> sent, and again
//	  ^-- it is done ---'  ^-- it is done: sent again --'
//
// A message that has not left may be on its way already, so one more goes after it.
type waker struct {
	state   atomic.Uint32
	request nmad.Request
	op      nmad.Op
	head    [headBytes]byte
}

const (
	wakerIdle = iota
	wakerSent
	wakerAgain
)

// wake has the threads of a process look again that sleep until a signal comes. It does not block.
func (w *World) wake(rank int) {
	if rank == w.rank {
		w.signalled.ring()
		return
	}
	k := &w.peers[rank].waker
	for {
		switch k.state.Load() {
		case wakerIdle:
			if k.state.CompareAndSwap(wakerIdle, wakerSent) {
				w.sendWake(rank, k)
				return
			}
		case wakerSent:
			if k.state.CompareAndSwap(wakerSent, wakerAgain) {
				return
			}
		default:
			return
		}
	}
}

func (w *World) sendWake(rank int, k *waker) {
	if k.op.Done == nil {
		k.head[0] = headWake
		k.op = nmad.Op{Kind: nmad.OpSend, Match: nmad.Match{Context: w.contexts[contextRequests-FirstContext]}, Buf: k.head[:], Done: func(r *nmad.Request) {
			if _, err := r.Test(); err == nil && !k.state.CompareAndSwap(wakerSent, wakerIdle) {
				k.state.Store(wakerSent)
				w.sendWake(rank, k)
			}
		}}
	}
	_ = w.s.Gate(rank).Post(&k.request, &k.op) // of a gate that has ended no thread waits any more
}
