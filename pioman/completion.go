package pioman

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Failed is the status bit of a task that has panicked, or ended its goroutine. It is reserved: programs use the bits
// 0 to 30 of a Completion.
const Failed uint32 = 1 << 31

// Completion is a status word whose bits tasks set, and for which any number of waiters wait. The
// zero value is ready, all bits clear; it is embedded in a request and must not be copied.
//
//	bits  0..31   status
//	bits 32..63   the waiters: the number of the newest parker of a list, 0: none
//
// The list of waiters is linked from parker to parker; no part of it lies in the Completion. Parkers belong to the
// process and are never freed. Signal is one compare-and-swap, which sets the bits and takes the whole list
// off the word at the same time. The signaler then holds the list, and wakes the waiters whose condition is met; for
// that it uses only the parkers. A waiter that gives up (withdraw) takes the list likewise.
//
//	         enlist                    a signaler, or a waiter that gives up, takes the list: for each parker
//	free ─────────────▶ in the list ─────────────▶ held ─────── its condition is met; or it gives up ──▶ free, and woken
//	  ▲                     ▲                         │
//	  │                     └── neither: put back ────┘ by one compare-and-swap, which fails if
//	  │                                                 the status has changed: then the holder looks again
//	  └── withdraw (it gives up): takes the list itself; if it is held, waits until it is put back or released
//
// No wake-up gets lost: the holder of the list compares the condition of each parker with a status that is no older
// than the compare-and-swap by which it puts the parker back.
//
// The signaler does not touch the Completion after it has released the last waiter: its compare-and-swap is the last
// access, unless it holds waiters whose bits are still missing. These cannot return from Wait while they are held, even
// if they give up, so the Completion still exists. (A waiter that has returned from Wait may reuse or unmap the memory
// at once, if there is no other waiter, and no signal still to come.)
//
// The signaler visits each waiter; a waiter that gives up visits all the others.
//
// Any thread, goroutine or hook may call Test and Signal at any time. Any number of threads and
// goroutines may call Wait and its forms. Only the owner calls Reset.
type Completion struct {
	word atomic.Uint64 // signalers, waiters and Clear change it by read-modify-write operations; Reset stores
}

const statusMask uint64 = 1<<32 - 1

// want is what a waiter waits for: any of the bits, or all of them.
type want struct {
	bits uint32
	all  bool
}

// met reports whether a status has the bits.
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

// Test reports whether any of bits is set. One load, inlined.
func (c *Completion) Test(bits uint32) bool { return c.word.Load()&uint64(bits) != 0 }

// TestAll reports whether all of bits are set. One load, inlined.
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

// enlist puts p, which must be in no list, into the list. It returns false if n is met. Then, as after
// withdraw, no list refers to p any more; a late wake may still come.
func (c *Completion) enlist(p *parker, n want) bool {
	p.want = n
	p.listed.Store(true)
	if c.push(p) {
		return true
	}
	p.listed.Store(false)
	return false
}

// push is enlist for a parker whose listed is set, and stays so if push returns false.
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

// withdraw takes p out of the list, unless a signaler has done so already. While another thread holds the list
// withdraw spins: the holder is about to put p back, or to release it.
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

// deal is for the holder of the list, which begins with head, and which it has taken off the word together with that
// status. deal releases the parkers whose condition is met, and leaver (nil: none), and puts the others back.
func (c *Completion) deal(head, status uint32, leaver *parker) {
	for head != 0 {
		rest, last := uint32(0), (*parker)(nil)
		for i := head; i != 0; {
			p := parking.at(i)
			i = p.link // before p is released, and its waiter may use it again
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
			return // no waiter is left for whose sake the Completion must still exist
		}
		last.link = 0
		head, status = c.putBack(rest, last, status)
	}
}

// putBack puts a list from head to last before the parkers that have come meanwhile, and returns 0. If the status has
// changed it returns the list, still held, and the new status.
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
