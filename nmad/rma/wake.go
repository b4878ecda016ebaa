package rma

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
)

// waker is the empty message (askWake) that wakes the threads of another process that sleep until a signal comes.
//
//	idle --- wake ---> sent --- wake ---> sent, and again
//	  ^-- it is done ---'  ^-- it is done: sent again --'
//
// A message that is not done may have been handled already, before the signal: wake then has one more sent after it.
// Signalers call wake; the callback of the message makes the other transitions.
type waker struct {
	state   atomic.Uint32
	request nmad.Request
	op      nmad.Operation
	head    [headBytes]byte
}

const (
	wakerIdle = iota
	wakerSent
	wakerAgain
)

// wake wakes the threads of a process that sleep until a signal comes: they look at their words again. It does not
// block.
func (w *World) wake(rank int) {
	if rank == w.rank {
		w.signaled.ring()
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

// sendWake sends the message. The caller has made the transition to sent.
func (w *World) sendWake(rank int, k *waker) {
	if k.op.Done == nil {
		(&wireRequest{ask: askWake}).encode(&k.head)
		k.op = nmad.Operation{Kind: nmad.KindSend, Match: w.context(contextRequests), Buf: k.head[:], Done: func(r *nmad.Request) {
			if _, err := r.Test(); err == nil && !k.state.CompareAndSwap(wakerSent, wakerIdle) {
				k.state.Store(wakerSent)
				w.sendWake(rank, k)
			}
			w.starters.ring() // World.quiet waits until it is idle
		}}
	}
	_ = w.s.Gate(rank).Post(&k.request, &k.op) // fails if the gate has ended: then there is no thread to be woken
}
