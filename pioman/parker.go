package pioman

import (
	"sync/atomic"
	"time"
)

// parker is where one waiter sleeps, and its place in the list of a Completion. Wakes are
// hints: each ends at most one sleep, and a waiter that wakes up looks at its condition again.
// So a late wake, meant for the former user of the same parker, does no harm.
//
//	        park on the semaphore: prepare(onSemaphore), look again, sleep
//	awake ─────────────────────────────────────────────▶ onSemaphore
//	  ▲  ◀───────── wake: swaps, then releases ────────────┘
//	  │                                       or cancel: swaps back itself; if a
//	  │                                       waker was first, takes the unit
//	  └── onKernel likewise: wake ends the engine's sleep in the kernel
type parker struct {
	index uint32                 // from 1; constant
	next  atomic.Uint32          // index of the next free one; the free list's
	e     atomic.Pointer[Engine] // whose waiter uses it; nil: it is free
	state atomic.Uint32          // waiter: awake -> on...; waker or waiter: back
	sem   semaphore              // a unit for each wake out of onSemaphore, consumed by that sleep
	plain bool                   // the waiter is a plain goroutine; it writes it before it lets itself be found

	// The place in a list (completion.go). While listed they belong to the holder of the list.
	listed atomic.Bool // the waiter sets it before it enlists; the holder that lets go of it clears it
	want   want
	link   uint32       // index of the next in the list, 0: none
	fn     func(uint32) // nil: a waiter's; else it is called instead of a wake (then.go)
	status uint32       // for fn, once it is due

	// What the waiter says of itself, for Waiters (waiters.go).
	since  atomic.Uint64 // cycles: since when it waits; 0: no waiter uses it
	thread atomic.Uint64 // its number, 0: a goroutine
	kind   atomic.Uint64 // the number of the Kind of its Reason
	words  [4]atomic.Uint64

	// The waiter's alone: an explicit waiter's sleep in the kernel, as blocking wants it,
	// and what the end of a context does; both made once.
	on    uint32 // what prepare said last
	sleep func()
	limit time.Duration // of sleep
	news  bool          // before sleep: something has happened in the waiter's polls
	went  slept         // how it went
	poke  func()

	_ [line]byte
}

const (
	awake uint32 = iota
	onSemaphore
	onKernel
)

// prepare comes before the last look at the condition. plain: the waiter is a goroutine.
func (p *parker) prepare(on uint32, plain bool) {
	p.on, p.plain = on, plain
	p.state.Store(on)
}

// wake ends the sleep that prepare began, or is about to begin. Never blocks.
func (p *parker) wake() {
	switch {
	case p.state.CompareAndSwap(onSemaphore, awake):
		p.release()
	case p.state.CompareAndSwap(onKernel, awake):
		if e := p.e.Load(); e != nil {
			e.sleeper.wake()
		}
	}
}

// release gives the unit that a wake out of onSemaphore owes.
func (p *parker) release() {
	plain := p.plain // before: the parker may be another waiter's afterwards
	if p.sem.Release(); plain {
		readied.Add(1)
	}
}

// cancel takes prepare back, when the waiter did not sleep, or slept without being woken.
func (p *parker) cancel() {
	if p.state.CompareAndSwap(onKernel, awake) || p.state.CompareAndSwap(onSemaphore, awake) {
		return
	}
	if p.on == onSemaphore {
		p.sem.Acquire() // a waker was first: its unit is there, or on its way
	}
}

// parkers are all parkers that this process ever made: as many as waiters slept at the same time. The engine never frees
// one, so that late wakers find a parker. Parkers serve all engines, because a Completion names them by number and knows
// no engine.
type parkers struct {
	mu   latch
	all  atomic.Pointer[[]*parkerBlock] // grows under mu; what was published stays as it is
	free atomic.Uint64                  // index of the first free one, and in the upper half a count against ABA
}

// parkerBlock is how many parkers are made at a time.
type parkerBlock [32]parker

var parking parkers

func (ps *parkers) blocks() []*parkerBlock {
	if l := ps.all.Load(); l != nil {
		return *l
	}
	return nil
}

// at returns the parker of an index.
func (ps *parkers) at(index uint32) *parker {
	i := index - 1
	return &(*ps.all.Load())[i/uint32(len(parkerBlock{}))][i%uint32(len(parkerBlock{}))]
}

// get takes a free parker or makes some: the only allocation of a wait, and a rare one.
func (ps *parkers) get(e *Engine) *parker {
	for {
		head := ps.free.Load()
		index := uint32(head)
		if index == 0 {
			ps.more()
			continue
		}
		p := ps.at(index)
		if ps.free.CompareAndSwap(head, nextHead(head, p.next.Load())) {
			p.e.Store(e)
			return p
		}
	}
}

// put gives it back; it must be awake and in no list.
func (ps *parkers) put(p *parker) {
	p.e.Store(nil)
	for {
		head := ps.free.Load()
		p.next.Store(uint32(head))
		if ps.free.CompareAndSwap(head, nextHead(head, p.index)) {
			return
		}
	}
}

// nextHead counts and sets the index.
func nextHead(head uint64, index uint32) uint64 { return (head>>32+1)<<32 | uint64(index) }

// more makes some parkers, unless another waiter just did.
func (ps *parkers) more() {
	ps.mu.lock()
	defer ps.mu.unlock()
	if uint32(ps.free.Load()) != 0 {
		return
	}
	old := ps.blocks()
	b := new(parkerBlock)
	for i := range b {
		p := &b[i]
		p.index = uint32(len(old)*len(b) + i + 1)
		p.sem.Uninterruptible()
		p.poke = p.wake
		p.sleep = func() { p.went = p.e.Load().sleeper.sleepAs(p.limit, p.news, &p.state, onKernel) }
	}
	all := append(old, b) // a reader of the old slice does not see what lies behind its end
	ps.all.Store(&all)
	for i := range b {
		ps.put(&b[i])
	}
}

// each calls do for every parker that a waiter of e uses, until it returns false.
func (ps *parkers) each(e *Engine, do func(*parker) bool) {
	for _, b := range ps.blocks() {
		for i := range b {
			if p := &b[i]; p.e.Load() == e && !do(p) {
				return
			}
		}
	}
}

// wakeAll wakes every waiter of e that sleeps, so that each looks at its condition again.
func (ps *parkers) wakeAll(e *Engine) {
	ps.each(e, func(p *parker) bool { p.wake(); return true })
}

// wakeOne wakes one of them that sleeps on its semaphore, if there is one.
func (ps *parkers) wakeOne(e *Engine) {
	ps.each(e, func(p *parker) bool {
		if p.state.CompareAndSwap(onSemaphore, awake) {
			p.release()
			return false
		}
		return true
	})
}
