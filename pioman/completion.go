package pioman

import "sync/atomic"

// Failed is the status bit that tells of a task which ended by a panic. Reserved:
// a Completion has 31 bits to use, 0..30.
const Failed uint32 = 1 << 31

// Completion is a status word that tasks set and one waiter awaits. The zero value is
// ready, all bits clear; it is embedded in a request and must not be copied.
//
//	bits  0..31   status
//	bit   32      claimed: a waiter is making ready to sleep
//	bit   33      waiting: it sleeps, or is about to, on parker
//	bits 34..63   how often the word was claimed, modulo 2^30
//
// Signal makes one compare-and-swap on the word and never touches the object after
// it: with the bit set the waiter may return, and the memory may already be
// something else. What is still to be done, waking a sleeper, is done on the
// parker, which the engine owns and never frees. The claim count keeps a signaller
// that read the parker of an earlier wait from being taken for one of this wait.
//
// Test, Signal: anyone. Wait, WaitTimeout, Reset: the owner, one at a time.
type Completion struct {
	_      noCopy
	word   atomic.Uint64
	parker atomic.Pointer[parker] // the waiter writes it between claimed and waiting; the signaller reads it
}

const (
	statusMask uint64 = 1<<32 - 1
	claimedBit uint64 = 1 << 32
	waitingBit uint64 = 1 << 33
	claimOne   uint64 = 1 << 34
	someone           = claimedBit | waitingBit
)

// Signal sets bits and wakes the waiter, if one sleeps. Never blocks; allowed inside handlers
// and hooks.
func (c *Completion) Signal(bits uint32) {
	for {
		w := c.word.Load()
		if w&waitingBit == 0 {
			if c.word.CompareAndSwap(w, w|uint64(bits)) { // pairs with enlist's
				return
			}
			continue
		}
		p := c.parker.Load()
		if c.word.CompareAndSwap(w, (w|uint64(bits))&^someone) {
			p.wake() // not c: it may be gone
			return
		}
	}
}

// Test tells whether any of bits is set. One load, inlined.
func (c *Completion) Test(bits uint32) bool { return c.word.Load()&uint64(bits) != 0 }

// Status returns all the bits.
func (c *Completion) Status() uint32 { return uint32(c.word.Load()) }

// Reset clears all bits, for the next use. Nobody may be waiting or about to signal.
func (c *Completion) Reset() {
	if w := c.word.Load(); w&statusMask != 0 {
		c.word.Store(w &^ statusMask)
	}
}

// enlist makes the caller the waiter, to be woken through p. not ok: one of bits is
// set; ErrTwoWaiters: somebody else is the waiter.
func (c *Completion) enlist(p *parker, bits uint32) (ok bool, err error) {
	for {
		w := c.word.Load()
		if w&uint64(bits) != 0 {
			return false, nil
		}
		if w&someone != 0 {
			return false, ErrTwoWaiters
		}
		if c.word.CompareAndSwap(w, (w+claimOne)|claimedBit) {
			break
		}
	}
	c.parker.Store(p)
	for {
		w := c.word.Load()
		if w&uint64(bits) != 0 {
			c.withdraw()
			return false, nil
		}
		if c.word.CompareAndSwap(w, w|waitingBit) { // pairs with Signal's
			return true, nil
		}
	}
}

// withdraw ends what enlist began; a signaller may have done so already.
func (c *Completion) withdraw() {
	for {
		w := c.word.Load()
		if w&someone == 0 || c.word.CompareAndSwap(w, w&^someone) {
			return
		}
	}
}

// hasWaiter tells whether somebody sleeps here, or is about to.
func (c *Completion) hasWaiter() bool { return c.word.Load()&someone != 0 }

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
