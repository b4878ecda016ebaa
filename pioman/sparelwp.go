package pioman

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// spareLWP is an OS thread beside the virtual processors. While all of these
// compute, and what is pending has not come for the BlockingDelay, it blocks in the
// kernel, as the engine's sleeper, in their stead: then their hooks need not poll, and
// what comes is handled when it comes, not at the next tick (TD09: blocking calls
// on a spare LWP). It is not sent while somebody is there already: an LWP of a processor that went to
// sleep in the kernel, and whose processor another LWP has taken up since, stays until something comes.
//
//	         send (timer hook)            the kernel announces something: it polls
//	waiting ──────────────────▶ blocking ─────────────┐
//	   ▲                        ▲      │              ▼
//	   │                        └──────┼───── arrivals are far apart, all compute
//	   └───────────────────────────────┴───── they are close: hooks poll for them;
//	      nothing pending; a processor is idle: it is better placed
//
// It starts with the first order and ends with the attachment.
type spareLWP struct {
	a       *attachment
	started atomic.Bool
	over    atomic.Bool
	g       atomic.Uintptr // asm.G of its goroutine
	blocks  atomic.Bool    // it is the sleeper, or about to be; it writes, hooks read
	orders  chan struct{}  // holds one
	ended   chan struct{}

	sent  atomic.Uint64 // how often it was sent to the kernel
	stays atomic.Uint64 // how often it went back there at once after an arrival
}

func (l *spareLWP) init(a *attachment) {
	l.a, l.orders, l.ended = a, make(chan struct{}, 1), make(chan struct{})
}

// send has it block in the kernel. Never blocks itself; for the timer hook.
func (l *spareLWP) send() {
	if l.blocks.Load() || l.over.Load() {
		return
	}
	if !l.started.Load() && l.started.CompareAndSwap(false, true) {
		go l.main()
	}
	select {
	case l.orders <- struct{}{}:
	default: // it is on its way
	}
}

func (l *spareLWP) main() {
	l.g.Store(asm.G())
	defer func() {
		if !l.over.Load() { // a handler has ended the goroutine
			l.handBack()
			go l.main()
			return
		}
		l.g.Store(0)
		close(l.ended)
	}()
	for !l.over.Load() {
		<-l.orders
		l.sent.Add(1)
		for l.block() {
			l.stays.Add(1)
		}
		l.handBack()
	}
}

// handBack has a processor look. One that became idle while this LWP was in the kernel was
// refused there, and sleeps where nothing that comes can wake it: it relies on us.
func (l *spareLWP) handBack() {
	if !l.over.Load() && l.a.e.load.view().pending() != 0 {
		l.a.s.Kick(-1)
	}
}

// block is one sleep in the kernel. It tells whether to go back at once.
func (l *spareLWP) block() bool {
	e := l.a.e
	if l.over.Load() || l.a.idlers(asm.Cycles()) {
		return false
	}
	l.blocks.Store(true)
	n := refused
	func() {
		defer l.blocks.Store(false) // also if a handler ends the goroutine
		n = e.sleeper.sleep(forever)
	}()
	switch n {
	case refused, unready:
		return false // nothing is pending, or an idle processor blocks, or hooks find something: the timer comes back to it
	case arrived:
		return !e.adapt.crowded()
	}
	return e.load.view().pending() != 0
}

// stop ends it, and waits for its end, unless a handler that it runs is the caller. It may be in
// the kernel: evict sees to it that it does not stay there.
func (l *spareLWP) stop(evict func()) {
	l.over.Store(true)
	if !l.started.Swap(true) {
		return // and nobody starts it any more
	}
	select {
	case l.orders <- struct{}{}:
	default:
	}
	for i := 0; l.g.Load() != asm.G(); i++ {
		select {
		case <-l.ended:
			return
		default:
			evict()
			relax(i, true)
		}
	}
}
