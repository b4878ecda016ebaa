package serial

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// State is the state of a serial function, a value of a Word. Its methods are the transitions: each returns the next
// state, for the caller to store by Word.Swap, and what the caller has to do once Swap has succeeded.
//
//	bits  0..3    the flags
//	bits  4..31   free for the user of the package; no transition changes them
//	bits 32..63   how many Holds have no Release yet
type State uint64

// The flags.
const (
	Scheduled State = 1 << iota // S: the function has to run once more
	Queued                      // Q: it is in a list, or the caller that has set the flag is about to link it there
	Running                     // R: it is being called, or its holder will call it again
	Killed                      // K: it never begins again
)

// User is the first of the bits that are free for the user of the package.
const User State = 1 << 4

const oneHold State = 1 << 32

// Has reports whether a flag is set.
func (s State) Has(flag State) bool { return s&flag != 0 }

// Holds returns how many Holds have no Release yet.
func (s State) Holds() uint32 { return uint32(s / oneHold) }

// Over reports whether the function is in no list and does not run: it stays so until a Schedule, a Release or a
// Revive.
func (s State) Over() bool { return s&(Queued|Running) == 0 }

// enqueue sets Queued if the function is scheduled, and neither held, killed, queued nor running; then push is true,
// and the caller links it into a list.
func (s State) enqueue() (next State, push bool) {
	if s&(Scheduled|Queued|Running|Killed) != Scheduled || s >= oneHold {
		return s, false
	}
	return s | Queued, true
}

// Schedule has the function run once more. It changes nothing if the function is scheduled already, or killed. If push
// is true the caller links it into a list.
func (s State) Schedule() (next State, push bool) {
	if s.Has(Killed) {
		return s, false
	}
	return (s | Scheduled).enqueue()
}

// Begin is for the holder of the list, which has taken the function out. If run is true the holder calls the function;
// otherwise the function is parked (held) or dead (killed).
func (s State) Begin() (next State, run bool) {
	s &^= Queued
	switch {
	case s.Has(Killed):
		return s &^ Scheduled, false
	case s >= oneHold:
		return s, false
	}
	return s&^Scheduled | Running, true
}

// End is for the holder, when the function has returned. If the function was scheduled meanwhile push is true, and the
// holder links it into a list again.
func (s State) End() (next State, push bool) { return (s &^ Running).enqueue() }

// Drop makes a function idle that the holder has taken out of its list, or that has not returned.
func (s State) Drop() State { return s &^ (Queued | Scheduled | Running) }

// Hold keeps the function from beginning until as many calls of Release. ok is false, and nothing changes, at the limit
// of 2^32-1 Holds.
func (s State) Hold() (next State, ok bool) {
	if s.Holds() == 1<<32-1 {
		return s, false
	}
	return s + oneHold, true
}

// Release takes one Hold back; ok is false if there was none. If it was the last one, and the function was scheduled
// meanwhile, push is true, and the caller links it into a list.
func (s State) Release() (next State, push, ok bool) {
	if s < oneHold {
		return s, false, false
	}
	next, push = (s - oneHold).enqueue()
	return next, push, true
}

// Revive schedules a function that is Over, even if it was killed. push is false if it is not Over, or is held.
func (s State) Revive() (next State, push bool) {
	if !s.Over() {
		return s, false
	}
	return (s &^ Killed).Schedule()
}

// Kill keeps the function from ever beginning again.
func (s State) Kill() State { return s&^Scheduled | Killed }

// Word holds a State in memory. Any thread may call its methods at any time. The zero Word is idle.
type Word struct{ w atomic.Uint64 }

// Load returns the state.
func (w *Word) Load() State { return State(w.w.Load()) }

// Swap stores the state to if the state is still from, and reports whether it did.
func (w *Word) Swap(from, to State) bool { return w.w.CompareAndSwap(uint64(from), uint64(to)) }

// Set stores a state without regard to the present one: for a caller that alone may change it now, or whose transition
// overrides others. It is a release store.
func (w *Word) Set(to State) { asm.StoreRelease64(&w.w, uint64(to)) }

// Change makes a transition that is possible in every state.
func (w *Word) Change(step func(State) State) {
	for {
		if s := w.Load(); w.Swap(s, step(s)) {
			return
		}
	}
}
