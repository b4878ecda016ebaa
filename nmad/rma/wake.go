package rma

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// waker is the message of nothing that has the threads of another process look again.
//
//	idle --- wake ---> sent --- wake ---> sent, and again
//	  ^-- it is done ---'  ^-- it is done: sent again --'
//
// A message that is not done may have come already, so one more goes after it.
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
		(&wireRequest{ask: askWake}).encode(&k.head)
		k.op = nmad.Op{Kind: nmad.OpSend, Match: w.context(contextRequests), Buf: k.head[:], Done: func(r *nmad.Request) {
			if _, err := r.Test(); err == nil && !k.state.CompareAndSwap(wakerSent, wakerIdle) {
				k.state.Store(wakerSent)
				w.sendWake(rank, k)
			}
			w.room.ring() // Close waits for that
		}}
	}
	_ = w.s.Gate(rank).Post(&k.request, &k.op) // of a gate that has ended no thread waits any more
}
