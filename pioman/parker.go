package pioman

import (
	"sync/atomic"
	"time"
)

// parker is where one waiter sleeps. Wakes are hints: each ends at most one sleep,
// and whoever wakes up looks at his condition again. So a late wake, meant for
// the former user of the same parker, does no harm.
//
//	        park on the semaphore: prepare(onSemaphore), look again, sleep
//	awake ─────────────────────────────────────────────▶ onSemaphore
//	  ▲  ◀───────── wake: swaps, then releases ────────────┘
//	  │                                       or cancel: swaps back itself; if a
//	  │                                       waker was first, takes the unit
//	  └── onKernel likewise: wake ends the engine's sleep in the kernel
type parker struct {
	e     *Engine
	index uint32        // from 1
	next  atomic.Uint32 // index of the next free one; the free list's
	state atomic.Uint32 // waiter: awake -> on...; waker or waiter: back
	sem   semaphore     // a unit for each wake out of onSemaphore, consumed by that sleep

	// The waiter's alone: an explicit waiter's sleep in the kernel, as blocking wants it,
	// made once.
	on    uint32 // what prepare said last
	nap   func()
	limit time.Duration // of nap
	went  nap           // how it went

	_ [line]byte
}

const (
	awake uint32 = iota
	onSemaphore
	onKernel
)

// prepare comes before the last look at the condition.
func (p *parker) prepare(on uint32) {
	p.on = on
	p.state.Store(on)
}

// wake ends the sleep that prepare began, or is about to begin. Never blocks.
func (p *parker) wake() {
	switch {
	case p.state.CompareAndSwap(onSemaphore, awake):
		p.sem.Release()
	case p.state.CompareAndSwap(onKernel, awake):
		p.e.sleeper.wake()
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

// parkers are all parkers that an engine ever made: as many as waiters slept at
// the same time. None is ever freed, so that late wakers find a parker.
type parkers struct {
	mu   latch
	all  atomic.Pointer[[]*parker] // replaced as a whole under mu; index-1 is the place
	free atomic.Uint64             // index of the first free one, and in the upper half a count against ABA
}

// grow is how many parkers are made at a time.
const grow = 8

func (ps *parkers) list() []*parker {
	if l := ps.all.Load(); l != nil {
		return *l
	}
	return nil
}

// get takes a free parker or makes some: the only allocation of a wait, and a rare one.
func (ps *parkers) get(e *Engine) *parker {
	for {
		head := ps.free.Load()
		index := uint32(head)
		if index == 0 {
			ps.more(e)
			continue
		}
		p := ps.list()[index-1]
		if ps.free.CompareAndSwap(head, nextHead(head, p.next.Load())) {
			return p
		}
	}
}

// put gives it back; it must be awake.
func (ps *parkers) put(p *parker) {
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

// more makes some parkers, unless somebody else just did.
func (ps *parkers) more(e *Engine) {
	ps.mu.lock()
	old := ps.list()
	if uint32(ps.free.Load()) != 0 {
		ps.mu.unlock()
		return // somebody else made some
	}
	all := make([]*parker, len(old), len(old)+grow)
	copy(all, old)
	for range grow {
		p := &parker{e: e, index: uint32(len(all) + 1)}
		p.sem.Uninterruptible()
		p.nap = func() { p.went = e.sleeper.sleep(p.limit) }
		all = append(all, p)
	}
	ps.all.Store(&all)
	for _, p := range all[len(old):] {
		ps.put(p)
	}
	ps.mu.unlock()
}

// wakeAll wakes every sleeper, so that each looks at his condition again.
func (ps *parkers) wakeAll() {
	for _, p := range ps.list() {
		p.wake()
	}
}

// wakeOne wakes one who sleeps on his semaphore, if there is one.
func (ps *parkers) wakeOne() {
	for _, p := range ps.list() {
		if p.state.CompareAndSwap(onSemaphore, awake) {
			p.sem.Release()
			return
		}
	}
}
