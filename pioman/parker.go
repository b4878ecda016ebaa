package pioman

import (
	"sync/atomic"
	"time"
)

// parker is a place for one waiter to sleep, and its element in the list of a Completion. Wakes are hints: each ends at
// most one sleep, and a waiter that wakes up looks at its condition again. So a late wake, meant for the former user of
// the same parker, does no harm.
//
//	        the waiter: prepare(onSemaphore), look again, sleep
//	awake ─────────────────────────────────────────────▶ onSemaphore
//	  ▲  ◀───────── wake: swaps, then releases ────────────┘
//	  │                                       or cancel: the waiter swaps back; if a
//	  │                                       waker was first, it takes the waker's unit
//	  └── onKernel likewise: wake ends the engine's sleep in the kernel
type parker struct {
	index  uint32                 // from 1; constant
	next   atomic.Uint32          // index of the next free parker, in parkers.free
	engine atomic.Pointer[Engine] // the engine of the waiter that uses it; nil: it is free
	state  atomic.Uint32          // the waiter leads out of awake, a waker or the waiter back
	sem    semaphore              // wake releases a unit for each sleep onSemaphore that it ends, and that sleep takes it
	plain  bool                   // the waiter is a plain goroutine; prepare writes it, a waker reads it

	// The element of a list (completion.go). While listed is set, these belong to the holder of the list.
	listed atomic.Bool // the waiter sets it before it enlists; the holder that releases the parker clears it
	want   want
	link   uint32       // index of the next parker in the list, 0: none
	fn     func(uint32) // is called instead of a wake (then.go); nil: a waiter sleeps here
	status uint32       // the argument of fn

	// For Waiters (waiters.go): the waiter writes, any thread reads.
	since  atomic.Uint64 // asm.Cycles when the wait began; 0: no waiter sleeps here
	thread atomic.Uint64 // sched.Thread.ID; 0: a goroutine
	kind   atomic.Uint64 // ReasonKind.number; 0: no reason
	words  [4]atomic.Uint64

	// Only the waiter uses these. The functions are made once, so that a wait allocates nothing.
	preparedOn uint32        // the argument of the last prepare
	sleep      func()        // sleeps in the kernel, for sched.Blocking; reads limit and hasNews, sets outcome
	limit      time.Duration // of sleep
	hasNews    bool          // something has happened in the waiter's polls since its last sleep
	outcome    sleepOutcome  // how sleep has ended
	poke       func()        // wakes the waiter, when its context ends or its thread is canceled

	_ [line]byte
}

// The states of a parker.
const (
	awake uint32 = iota
	onSemaphore
	onKernel
)

// prepare announces a sleep. The waiter then looks at its condition for the last time. plain: it is a goroutine.
func (p *parker) prepare(on uint32, plain bool) {
	p.preparedOn, p.plain = on, plain
	p.state.Store(on)
}

// wake ends the sleep that prepare began, or is about to begin. Never blocks.
func (p *parker) wake() {
	switch {
	case p.state.CompareAndSwap(onSemaphore, awake):
		p.release()
	case p.state.CompareAndSwap(onKernel, awake):
		if e := p.engine.Load(); e != nil {
			e.sleeper.wake()
		}
	}
}

// release releases the unit for a sleep onSemaphore, whose state the caller has swapped.
func (p *parker) release() {
	plain := p.plain // before the release: after it another waiter may use the parker
	if p.sem.Release(); plain {
		readied.Add(1)
	}
}

// cancel undoes prepare, for a waiter that did not sleep, or whose sleep ended without a wake.
func (p *parker) cancel() {
	if p.state.CompareAndSwap(onKernel, awake) || p.state.CompareAndSwap(onSemaphore, awake) {
		return
	}
	if p.preparedOn == onSemaphore {
		p.sem.Acquire() // a waker was first: it has released a unit, or is about to
	}
}

// parkers are all parkers that this process has made: as many as waiters slept at the same time. They are never freed,
// so that a late waker finds a parker. They serve all engines, because a Completion names them by number and knows
// no engine.
type parkers struct {
	mu   spinLock
	all  atomic.Pointer[[]*parkerBlock] // grows under mu; readers take no lock
	free atomic.Uint64                  // index of the first free parker, and in the upper half a count against ABA
}

// parkerBlock is how many parkers are made at a time.
type parkerBlock [32]parker

var parking parkers

// blocks returns all blocks that were made.
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

// get takes a free parker for a waiter of e, or makes some: the only allocation of a wait, and a rare one.
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
			p.engine.Store(e)
			return p
		}
	}
}

// put frees a parker, which must be awake and in no list.
func (ps *parkers) put(p *parker) {
	p.engine.Store(nil)
	for {
		head := ps.free.Load()
		p.next.Store(uint32(head))
		if ps.free.CompareAndSwap(head, nextHead(head, p.index)) {
			return
		}
	}
}

// nextHead returns the new value of free: the count plus 1, and the index.
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
		p.sem.SetUninterruptible()
		p.poke = p.wake
		p.sleep = func() { p.outcome = p.engine.Load().sleeper.sleepAs(p.limit, p.hasNews, &p.state, onKernel) }
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
			if p := &b[i]; p.engine.Load() == e && !do(p) {
				return
			}
		}
	}
}

// wakeAll wakes every waiter of e that sleeps, so that each looks at its condition again.
func (ps *parkers) wakeAll(e *Engine) {
	ps.each(e, func(p *parker) bool { p.wake(); return true })
}

// wakeOne wakes one waiter of e that sleeps on its semaphore, if there is one.
func (ps *parkers) wakeOne(e *Engine) {
	ps.each(e, func(p *parker) bool {
		if p.state.CompareAndSwap(onSemaphore, awake) {
			p.release()
			return false
		}
		return true
	})
}
