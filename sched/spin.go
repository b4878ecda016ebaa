package sched

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// Spin is a spin lock for critical sections of tens of nanoseconds. Threads, goroutines and hooks may take it. A thread
// takes it between Enter and Leave, so that no taker gets its VP while it holds the lock. The kernel may still
// deschedule the OS thread of the holder, so a waiter gives the CPU away now and then. The zero value is unlocked.
type Spin struct {
	rankedSpin // its place in the order of locks, in builds that check that: lockorder.go
	word       uint32
}

const spinsPerYield = 128 // pauses before the spinner offers its CPU to other OS threads

// Lock waits until the lock is free and takes it.
func (mu *Spin) Lock() {
	if !atomic.CompareAndSwapUint32(&mu.word, 0, 1) {
		mu.contend()
	}
	mu.locked(true)
}

// TryLock takes the lock if it is free, without writing to it otherwise.
func (mu *Spin) TryLock() bool {
	if atomic.LoadUint32(&mu.word) != 0 || !atomic.CompareAndSwapUint32(&mu.word, 0, 1) {
		return false
	}
	mu.locked(false)
	return true
}

// Unlock frees the lock.
func (mu *Spin) Unlock() {
	mu.unlocking()
	storeRel(&mu.word, 0)
}

// visitUnder calls do under mu, within an operation of the caller's. do takes no lock that comes before mu, and does
// not block.
func visitUnder(mu *Spin, do func()) {
	c := Visit()
	mu.Lock()
	do()
	mu.Unlock()
	c.Leave()
}

// contend is Lock when the lock is taken. It only reads until the lock looks free, so that the cache line stays shared
// among the waiters.
func (mu *Spin) contend() {
	for n := 1; ; n++ {
		if atomic.LoadUint32(&mu.word) == 0 && atomic.CompareAndSwapUint32(&mu.word, 0, 1) {
			return
		}
		if relax(); n%spinsPerYield == 0 {
			giveWay() // its holder may have been descheduled
		}
	}
}

// relax is the pause of every loop that spins. It is not inlined: its prologue checks the stack, and there the
// collector can stop the caller. A loop of pauses has no other such point, so a caller that waits for a thread which
// the collector has stopped would spin for ever.
//
//go:noinline
func relax() { asm.Pause() }

// spinPause is the pause in round n, from 1 on, of a loop that waits for another OS thread: now and then it offers the
// CPU, since the other thread may have been descheduled.
func spinPause(n int) {
	if relax(); n%spinsPerYield == 0 {
		giveWay()
	}
}

// Backoff is the pause in round n, from 1 on, of a loop that waits for another thread, goroutine or hook without
// parking. Mostly it is a pause of the CPU. Now and then it lets others run, for which the caller may be waiting: the
// threads of this VP, goroutines, and other OS threads on this CPU.
func Backoff(n int) {
	relax()
	const turnsPerYield = 16
	if n%turnsPerYield != 0 {
		return
	}
	switch c := lookup(); {
	case c == nil:
		if n%spinsPerYield == 0 {
			runtime.Gosched()
		}
	case !c.base && c.vpHint().hasWork():
		Yield()
	case n%spinsPerYield == 0:
		giveWay()
	}
}
