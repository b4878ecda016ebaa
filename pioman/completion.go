package pioman

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Failed is the status bit that tells of a task which ended by a panic. Reserved:
// a Completion has 31 bits to use, 0..30.
const Failed uint32 = 1 << 31

// Completion is a status word that tasks set, and that any number of waiters await. The
// zero value is ready, all bits clear; it is embedded in a request and must not be copied.
//
//	bits  0..31   status
//	bits 32..63   the waiters: the number of the newest parker of a list, 0: none
//
// The list leads from parker to parker; none of it lies in the object. Parkers belong to the process
// and are never freed. So Signal is one compare-and-swap, which sets the bits and takes the whole list
// off the word at the same time. It then wakes the waiters that have what they want; for that it uses
// only the parkers.
//
//	         enlist                    a signaller, or a leaver, takes the list: for each parker
//	free ─────────────▶ in the list ─────────────▶ in hand ──── has what it wants; or leaves ──▶ free, and woken
//	  ▲                     ▲                         │
//	  │                     └── neither: put back ────┘ by one compare-and-swap, which fails if
//	  │                                                 the status has changed: then look again
//	  └── withdraw (it gives up, a hint): takes the list itself; if it is in hand, waits until it is not
//
// No wake-up gets lost: the signaller or leaver that has the list in hand looks at each parker in
// the light of a status that is no older than the swap by which it puts the parker back.
//
// The signaller never touches the object after it has released the last waiter: its swap is the last
// touch, unless it holds waiters whose bits are still missing. These cannot return from Wait while
// they are in hand, even if they give up, so the object still exists. (A plain goroutine that
// returned from Wait may reuse or unmap the memory at once, if there is no other waiter, and no signal
// still to come.)
//
// Several waiters cost the signaller a visit each; a waiter that gives up visits all the others.
//
// Any thread, goroutine or hook may call Test and Signal at any time. Any number of threads and
// goroutines may call Wait and its forms. Only the owner calls Reset.
type Completion struct {
	word atomic.Uint64
}

const statusMask uint64 = 1<<32 - 1

// want is what a waiter waits for: any of the bits, or all of them.
type want struct {
	bits uint32
	all  bool
}

func (ask want) met(status uint32) bool {
	got := status & ask.bits
	return got == ask.bits || got != 0 && !ask.all
}

// Signal sets bits and wakes the waiters for them. It never blocks, and is allowed inside handlers and
// hooks. If no waiter sleeps it is one load and one compare-and-swap.
func (c *Completion) Signal(bits uint32) {
	for {
		w := c.word.Load()
		if c.word.CompareAndSwap(w, uint64(uint32(w)|bits)) { // pairs with enlist's
			if w > statusMask {
				c.deal(uint32(w>>32), uint32(w)|bits, nil)
			}
			return
		}
	}
}

// Test tells whether any of bits is set. One load, inlined.
func (c *Completion) Test(bits uint32) bool { return c.word.Load()&uint64(bits) != 0 }

// TestAll tells whether all of bits are set. One load, inlined.
func (c *Completion) TestAll(bits uint32) bool { return ^c.word.Load()&uint64(bits) == 0 }

// Status returns all the bits.
func (c *Completion) Status() uint32 { return uint32(c.word.Load()) }

// Reset clears all bits, for the next use. There must be no waiter, and no signal under way; else use
// Clear, which costs an atomic operation.
func (c *Completion) Reset() {
	if c.word.Load() != 0 {
		asm.StoreRelease64(&c.word, 0)
	}
}

// Clear clears bits. Threads may wait and signal meanwhile; waiters go on waiting.
func (c *Completion) Clear(bits uint32) {
	if c.Test(bits) {
		c.word.And(^uint64(bits))
	}
}

// enlist puts p into the list, which p must not be in; false: there is no need to
// wait. Then, as after withdraw, nothing refers to p any more, save for a late wake.
func (c *Completion) enlist(p *parker, n want) bool {
	p.want = n
	p.listed.Store(true)
	if c.push(p) {
		return true
	}
	p.listed.Store(false)
	return false
}

// push is enlist for a parker that counts as listed already, and still does if it is refused.
func (c *Completion) push(p *parker) bool {
	for {
		w := c.word.Load()
		if p.want.met(uint32(w)) {
			return false
		}
		p.link = uint32(w >> 32)
		if c.word.CompareAndSwap(w, uint64(p.index)<<32|w&statusMask) { // pairs with Signal's
			return true
		}
	}
}

// withdraw ends what enlist began; a signaller may have done so already. If p is
// in hand it waits: the signaller that has it is about to let go of it.
func (c *Completion) withdraw(p *parker) {
	for i := 0; p.listed.Load(); i++ {
		w := c.word.Load()
		if w <= statusMask {
			relax(i, false)
		} else if c.word.CompareAndSwap(w, w&statusMask) {
			c.deal(uint32(w>>32), uint32(w), p)
		}
	}
}

// deal is for the caller that has taken the list, which began with head, off the word, at a moment
// when the status was as given: it lets go of the parkers that have what they want, and of leaver
// (nil: none), and puts the others back.
func (c *Completion) deal(head, status uint32, leaver *parker) {
	for head != 0 {
		rest, last := uint32(0), (*parker)(nil)
		for i := head; i != 0; {
			p := parking.at(i)
			i = p.link // before its waiter may use it again
			switch {
			case p == leaver:
				p.listed.Store(false)
			case p.want.met(status) && p.fn != nil:
				p.fire(status)
			case p.want.met(status):
				p.listed.Store(false)
				p.wake()
			default:
				if last == nil {
					rest = p.index
				} else {
					last.link = p.index
				}
				last = p
			}
		}
		if last == nil {
			return // no waiter is left that would keep the object: it is not touched any more
		}
		last.link = 0
		head, status = c.putBack(rest, last, status)
	}
}

// putBack puts a list that leads from head to last on the word again, before the parkers
// that came meanwhile, unless the status has changed: then it returns the list and the new status.
func (c *Completion) putBack(head uint32, last *parker, status uint32) (again, now uint32) {
	for {
		w := c.word.Load()
		if uint32(w) != status {
			last.link = 0
			return head, uint32(w)
		}
		last.link = uint32(w >> 32)
		if c.word.CompareAndSwap(w, uint64(head)<<32|uint64(status)) {
			return 0, status
		}
	}
}
