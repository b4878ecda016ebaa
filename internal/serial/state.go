package serial

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// State is the state of a serial function in a word. Its methods are the transitions: each returns the next state, to be put in place
// by Word, and what the caller that succeeds has to do.
//
//	bits  0..3    the flags
//	bits  4..31   the user's, which no transition changes
//	bits 32..63   how many Hold without a Release
type State uint64

// The flags.
const (
	Scheduled State = 1 << iota // S: has to run once more
	Queued                      // Q: linked into a list, or about to be, by the caller that set it
	Running                     // R: its function is being called, or will be again
	Killed                      // K: never to begin again
)

// User is the first bit that is the user's.
const User State = 1 << 4

const oneHold State = 1 << 32

// Has tells whether a flag is set.
func (s State) Has(flag State) bool { return s&flag != 0 }

// Holds is how many Hold there were without a Release.
func (s State) Holds() uint32 { return uint32(s / oneHold) }

// Over tells whether nothing is left to come but for a Schedule or a Release: no list has it, and it does not run.
func (s State) Over() bool { return s&(Queued|Running) == 0 }

// enqueue queues s if it has to run and nothing speaks against it; then push is true, and the caller links it into a list.
func (s State) enqueue() (next State, push bool) {
	if s&(Scheduled|Queued|Running|Killed) != Scheduled || s >= oneHold {
		return s, false
	}
	return s | Queued, true
}

// Schedule says that it has to run once more, if it can. Changes nothing if it is scheduled already, or killed.
func (s State) Schedule() (next State, push bool) {
	if s.Has(Killed) {
		return s, false
	}
	return (s | Scheduled).enqueue()
}

// Begin says that its holder took it out. If run, the function is to be called. Otherwise it is parked (held), or dead (killed).
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

// End says that the function returned. If it was scheduled while running it is queued again.
func (s State) End() (next State, push bool) { return (s &^ Running).enqueue() }

// Drop forgets it, whatever it was to do.
func (s State) Drop() State { return s &^ (Queued | Scheduled | Running) }

// Hold keeps it from beginning until as many Release. ok is false at the limit of 2^32-1.
func (s State) Hold() (next State, ok bool) {
	if s.Holds() == 1<<32-1 {
		return s, false
	}
	return s + oneHold, true
}

// Release takes one Hold back; the last one queues what was scheduled meanwhile. ok is false if there was none.
func (s State) Release() (next State, push, ok bool) {
	if s < oneHold {
		return s, false, false
	}
	next, push = (s - oneHold).enqueue()
	return next, push, true
}

// Revive begins another life of one that is over, killed or not, with a Schedule; push is false if it is not over, or is held.
func (s State) Revive() (next State, push bool) {
	if !s.Over() {
		return s, false
	}
	return (s &^ Killed).Schedule()
}

// Kill keeps it from ever beginning again.
func (s State) Kill() State { return s&^Scheduled | Killed }

// Word is the state in memory.
type Word struct{ w atomic.Uint64 }

// Load returns the state.
func (w *Word) Load() State { return State(w.w.Load()) }

// Swap puts a transition in place, unless the state is not as it was.
func (w *Word) Swap(from, to State) bool { return w.w.CompareAndSwap(uint64(from), uint64(to)) }

// Set does so for the side that alone may change the state now, or whose transition overrides what others ask for
// meanwhile. It is a release store.
func (w *Word) Set(to State) { asm.StoreRelease64(&w.w, uint64(to)) }

// Change makes a transition that is always possible.
func (w *Word) Change(step func(State) State) {
	for {
		if s := w.Load(); w.Swap(s, step(s)) {
			return
		}
	}
}
