package pioman

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// masks is how often a task is masked, and whether the holder of its queue knows.
//
//	bits 0..30   how many Mask without an Unmask
//	bit  31      seen: a holder has passed the task by. No handler of it runs, none
//	             begins before the last Unmask, and the engine does not count it as pending
//
//	            Mask               the holder meets it
//	  0 ────────────────▶ masked ────────────────────────▶ masked, seen
//	  ▲                    │                                 │      │
//	  └──── last Unmask ───┴──────────── last Unmask ────────┘      │ cancelled: dropped,
//	                                     (is counted again)         ▼ masked
//
// A Mask that comes while the handler runs waits for seen, or for the queue to be free:
// the next holder of the queue reads the count before it polls.
type masks struct{ w atomic.Uint32 }

const seenBit uint32 = 1 << 31

func (m *masks) on() bool   { return m.w.Load() != 0 }
func (m *masks) seen() bool { return m.w.Load()&seenBit != 0 }

// see is the holder's. on: the task is to be passed by; first: it was not seen before.
func (m *masks) see() (on, first bool) {
	for {
		w := m.w.Load()
		if w == 0 || w&seenBit != 0 {
			return w != 0, false
		}
		if m.w.CompareAndSwap(w, w|seenBit) {
			return true, true
		}
	}
}

// unsee takes see back, for a task that is dropped; it tells whether it was seen.
func (m *masks) unsee() bool {
	return m.on() && m.w.And(^seenBit)&seenBit != 0
}

// Mask keeps a task from being polled, submitted or not, until Unmask. Masks count: as many
// Unmask as Mask, then it is polled again. On return no handler of the task runs: Mask waits for
// one that runs elsewhere. A masked OneShot task does not count as a pending request.
// Cancel works on a masked task as on any other, and leaves the masks; Init clears them.
//
// Inside the task's own handler Mask does not wait: the mask holds from the handler's return on, if
// that asks for another poll. From inside another handler of the same engine it works, but two
// handlers must not mask each other. It must not be called from a hook.
func (t *Task) Mask() error {
	if t.masks.w.Add(1)&^seenBit == seenBit-1 {
		t.masks.w.Add(^uint32(0))
		return fmt.Errorf("mask task %q: %w", t.name, ErrMasks)
	}
	for i := 0; ; i++ {
		if s := t.state.load(); t.masks.seen() || s == StateUnset || s.Inactive() {
			return nil // and if it is submitted after that look, its poller sees the mask
		}
		q := t.queue.Load()
		switch {
		case q == nil: // Submit is between its claim and its push
			relax(i, false)
		case t.runner.Load() == asm.G():
			return nil // our own blocking function
		case q.held(asm.G()):
			if t.runner.Load() == 0 {
				return nil // our own handler, or one of a neighbour: the queue polls one at a time
			}
			relax(i, true)
		case q.enter():
			idle := t.queue.Load() == q && t.runner.Load() == 0
			q.exit()
			if idle {
				return nil
			}
			relax(i, false)
		default: // its holder will meet the task, or leave
			relax(i, false)
		}
	}
}

// Unmask takes back one Mask; with the last one the task is polled again. ErrMasks if there is none.
// Allowed inside handlers and hooks.
func (t *Task) Unmask() error {
	for {
		w := t.masks.w.Load()
		q, opt := t.queue.Load(), t.opt
		switch n := w &^ seenBit; {
		case n == 0:
			return fmt.Errorf("unmask task %q: %w", t.name, ErrMasks)
		case n == 1 && w&seenBit != 0:
			q.engine.tally(opt, 1) // before the swap: the poller that ends the task takes it back
			if t.masks.w.CompareAndSwap(w, 0) {
				q.engine.announce(q, opt) // t may have ended by now
				return nil
			}
			q.engine.tally(opt, -1)
		case t.masks.w.CompareAndSwap(w, w-1): // not seen: no holder has passed it by
			return nil
		}
	}
}

// pass tells whether the task is masked and has to be passed by. For the holder.
func (q *Queue) pass(t *Task) bool {
	if t.state.cancelling() {
		return false
	}
	on, first := t.masks.see()
	if first {
		q.engine.tally(t.opt, -1)
	}
	if on {
		q.passBy(t)
	}
	return on
}
