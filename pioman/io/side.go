package pio

import (
	"net"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// side is one direction of a descriptor: reading (and accepting), or writing (and
// connecting). Its operations take turns under mu; among them at most one waits.
//
//	        poller: an edge from the kernel
//	   ┌───────────────▶ ready ───────────────┐
//	   │                                      │ begin: before each system call
//	(clear) ◀─────────────────────────────────┘
//	   │ enlist: the call said EAGAIN, and nothing came since begin
//	   ▼
//	waiting ──────▶ (ready, expired or closed, and not waiting)
//	           wake: takes the mark away, and only the taker signals done
//
// begin clears ready before the system call: an edge that comes during the call or
// after it sets ready again, and enlist refuses to wait. An edge of which the
// poller learns late makes one call too many, never one too few.
//
// The waiter resets done before it sets the mark, and leaves only after the signal of
// the taker. So no signal is under way when it is reset.
type side struct {
	mu    marcel.Mutex // its holder may use iov, and wait
	word  atomic.Uint32
	done  pioman.Completion // bit signalled
	limit deadline
	iov   *[maxIovecs]unix.Iovec // of Readv and Writev, made at the first
	armed bool                   // the kernel has been told to announce this direction; under descriptor.epoll
}

// Bits of side.word.
const (
	ready   uint32 = 1 << iota // something may have happened since begin
	expired                    // the deadline has passed
	shut                       // the descriptor is being closed; for ever
	waiting                    // a thread waits, or is about to
)

// signalled is the bit of side.done.
const signalled = 1

// begin comes before a system call. Not nil: it is too late for one.
func (s *side) begin() error { return verdict(s.word.And(^ready)) }

// verdict tells why a direction is of no use.
func verdict(w uint32) error {
	switch {
	case w&shut != 0:
		return net.ErrClosed
	case w&expired != 0:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// enlist sets the mark of a waiter. false: no need to wait, or no use.
func (s *side) enlist() bool {
	s.done.Reset()
	for {
		w := s.word.Load()
		if w&(ready|expired|shut) != 0 {
			return false
		}
		if s.word.CompareAndSwap(w, w|waiting) { // pairs with wake's
			return true
		}
	}
}

// retract ends a wait that was given up.
func (s *side) retract() {
	if s.word.And(^waiting)&waiting != 0 {
		return
	}
	for !s.done.Test(signalled) { // the mark was taken: the signal is on its way
		marcel.Yield()
	}
}

// wake notes what happened and wakes the waiter. true: there was one. Never blocks.
func (s *side) wake(what uint32) bool {
	for {
		w := s.word.Load()
		n := (w | what) &^ waiting
		if n == w {
			return false
		}
		if !s.word.CompareAndSwap(w, n) { // pairs with enlist's
			continue
		}
		if w&waiting == 0 {
			return false
		}
		s.done.Signal(signalled)
		return true
	}
}
