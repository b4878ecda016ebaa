package pioman

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// progressor is an OS thread that makes progress for others. There is one type: where it runs, and until when, is its duty's.
//
//	      rouse: a post, a VP that stands back,
//	      the timer of VPs that all compute          a waiter polls, or polled a moment ago
//	off ─────────────────────────────────▶ watching ◀──────────────────────────────────▶ watching: naps
//	 ▲                                        │  no waiter polls: there are VPs ──▶ one of these is kicked ──▶ off
//	 │ nothing is pending,                    ▼
//	 │ another one sleeps for all          polling ──── in vain, or its CPU is wanted ──▶ blocking: the engine's sleeper
//	 └────────────────────────────────────────┴◀──────── something arrives ─────────────────────┘
//
//	duty       where                                polls                                  blocks
//	serve      unbound, its goroutine not locked    while no waiter and no VP does         when that is vain, or all VPs compute
//	dedicate   in the place of one VP               as long as something is pending        never
//
// It starts at its first duty, and ends with the attachment. Should a handler end its goroutine, it goes on with another one.
type progressor struct {
	a    *attachment
	vp   int    // the dedicated one's; -1: unbound
	duty func() // until there is nothing for it to do

	started atomic.Bool
	over    atomic.Bool
	state   atomic.Uint32  // off ... blocking: rouse leads out of off, the thread does all else
	sent    atomic.Bool    // to the kernel, at once: all VPs compute; the timer hook sets it
	g       atomic.Uintptr // asm.G of its goroutine
	rung    chan struct{}  // holds one: what ends off
	ended   chan struct{}

	lowerProcs func() // gives back the P that it has beside those of the program
	heeded     int64  // asm.Cycles: when it looked at GOMAXPROCS last
}

// The states of a progressor.
const (
	off uint32 = iota
	watching
	polling
	blocking
)

const (
	shortNap = 50 * time.Microsecond  // the first one, after a post by a goroutine that does not poll
	longNap  = time.Millisecond       // the longest
	mostVain = 20                     // naps with nothing pending before it is off
	heedGap  = int64(2 * time.Second) // how often it looks whether the program has set GOMAXPROCS
)

func (p *progressor) init(a *attachment, vp int, duty func()) {
	p.a, p.vp, p.duty = a, vp, duty
	p.rung, p.ended = make(chan struct{}, 1), make(chan struct{})
}

// rouse has it work, if it is off. One load if it is not; never blocks.
func (p *progressor) rouse() {
	if p.state.Load() != off || p.over.Load() || !p.state.CompareAndSwap(off, watching) {
		return
	}
	if !p.started.Load() && p.started.CompareAndSwap(false, true) {
		go p.main()
	}
	p.ring()
}

// send sends it to the kernel, since all VPs compute and nothing has come for long. It goes at once, or after its nap.
func (p *progressor) send() {
	if p.state.Load() < polling && !p.sent.Load() {
		p.sent.Store(true)
		p.rouse()
	}
}

func (p *progressor) ring() {
	select {
	case p.rung <- struct{}{}:
	default:
	}
}

// main is the life of the thread. The dedicated one exits locked: what was set on the OS thread goes with it.
func (p *progressor) main() {
	p.g.Store(asm.G())
	s, _ := p.a.s.(spareable)
	defer func() {
		if !p.over.Load() { // a handler has ended the goroutine
			go p.main()
			return
		}
		p.g.Store(0)
		if p.vp >= 0 {
			_ = s.EnableVP(p.vp) // it exists
		}
		if p.lowerProcs != nil {
			p.lowerProcs()
		}
		close(p.ended)
	}()
	if p.vp >= 0 {
		runtime.LockOSThread()
		if free, err := s.BindTo(p.vp); err == nil {
			defer free()
		}
	} else if p.lowerProcs == nil && len(p.a.vps) == 0 {
		p.lowerProcs = sched.RaiseProcs(1)
	}
	for p.await(); !p.over.Load(); p.await() {
		p.duty()
	}
}

// await waits in the state off. It stores the state before it looks (needed): a poster that posts after the look, or a sleeper that
// leaves then, sees off, and rings.
func (p *progressor) await() {
	p.state.Store(off)
	if !p.over.Load() && !p.needed() {
		<-p.rung
	}
	p.state.Store(watching)
}

// needed tells whether something is pending that nothing else sees to. Where there are VPs, and no goroutine polls, it has one of
// these see to it.
func (p *progressor) needed() bool {
	v := p.a.e.load.view()
	switch {
	case p.vp >= 0:
		return v.pending() != 0
	case p.sent.Load():
		return true
	case v.pending() == 0 || v.watched():
		return false
	case len(p.a.vps) == 0 || sched.GoroutinesPoll(asm.Cycles()) != 0:
		return true
	}
	p.a.s.Kick(-1)
	return false
}

// stop ends it, and waits for its end, unless a handler that it runs is the caller. It may be in
// the kernel: evict sees to it that it does not stay there.
func (p *progressor) stop(evict func()) {
	p.over.Store(true)
	if !p.started.Swap(true) {
		return // and nothing starts it any more
	}
	for i := 0; p.g.Load() != asm.G(); i++ {
		select {
		case <-p.ended:
			return
		default:
			p.ring()
			evict()
			relax(i, true)
		}
	}
}

// serve is the duty of the unbound progressor. It naps while waiters poll, and takes over when they have stopped:
// itself, or, where there are VPs, by kicking one of these.
func (p *progressor) serve() {
	e, vain, nap := p.a.e, 0, shortNap
	seen := e.load.view().activity()
	for !p.over.Load() {
		if p.sent.Swap(false) {
			p.blockForAll()
			return
		}
		p.state.Store(watching)
		v := e.load.view()
		switch polls := sched.GoroutinesPoll(asm.Cycles()); {
		case polls != 0: // the nap costs the one that polls an interrupt
			nap = min(max(time.Duration(asm.Nanos(polls)), shortNap), longNap)
		case v.pending() == 0:
			if vain++; vain > mostVain {
				return
			}
			nap = longNap
		case v.watched():
			return
		case v.asleep():
			e.sleeper.wake() // it is to look at what was posted since it armed
			nap = shortNap
		case len(p.a.vps) > 0:
			return // await kicks one
		default:
			if p.progress() {
				continue
			}
			nap = min(2*nap, longNap)
		}
		if a := e.load.view().activity(); a != seen {
			seen, vain = a, 0
		}
		sleepCPU(nap)
		p.heed()
	}
}

// heed raises a GOMAXPROCS that the program has set meanwhile.
func (p *progressor) heed() {
	if now := asm.Cycles(); now-p.heeded > asm.ToCycles(heedGap) {
		p.heeded = now
		go sched.HeedProcs() // it may stop the world
	}
}

// progress polls as long as that is worth it, then blocks in the kernel until something comes. It tells whether to go on
// at once: no if arrivals follow each other closely on a CPU that others want. Then it looks at the end of each nap.
func (p *progressor) progress() bool {
	e := p.a.e
	p.state.Store(polling)
	active := asm.Cycles()
	wanted := false
	for offered := active; !wanted; {
		now := asm.Cycles()
		if e.load.view().pending() == 0 || p.over.Load() || sched.GoroutinesPoll(now) != 0 {
			return true
		}
		woken := readied.Load()
		out := e.poll(-1)
		p.a.handOver(woken)
		if out == moved {
			if wait := now - active; wait >= e.ticks.hot {
				e.arrivals.Took(wait, e.ticks.delay)
			}
			active = now
			continue
		}
		if now-active >= e.window() {
			break
		}
		if now-offered >= e.ticks.politeAfter {
			wanted = sched.Offer()
			offered = asm.Cycles()
		}
	}
	e.settle(-1)
	return p.block() || !wanted
}

// blockForAll is what the progressor does while all processors
// compute, and what is pending has not come for the BlockingDelay: it blocks in the
// kernel, as the engine's sleeper, in their stead. Then their hooks need not poll, and
// what comes is handled when it comes, not at the next tick (TD09: blocking calls
// on a spare LWP). The timer hook sends it, not while the engine has a sleeper: an LWP of a processor that went to
// sleep in the kernel, and whose processor another LWP has taken up since, stays until something comes.
func (p *progressor) blockForAll() {
	for p.block() {
	}
}

// block is one sleep in the kernel. It tells whether to go back at once.
func (p *progressor) block() bool {
	e := p.a.e
	if p.over.Load() || p.a.idlers(asm.Cycles()) {
		return false // an idle processor is better placed
	}
	p.state.Store(blocking)
	n := refused
	woken := readied.Load()
	func() {
		defer p.state.Store(watching) // also if a handler ends the goroutine
		n = e.sleeper.sleep(forever)
	}()
	p.a.handOver(woken)
	switch n {
	case refused, unready:
		return false // nothing is pending, or an idle processor blocks, or hooks find something: the timer comes back to it
	case arrived:
		return !e.arrivals.Soon() // so close on each other that hooks had better poll for them
	}
	return e.load.view().pending() != 0
}

// pollForAll is the duty of the dedicated processor, which runs no threads: it polls as long as
// requests are pending. No other processor polls at its hooks then, and none blocks in the kernel. (TBD09
// measures what that costs the computation.)
func (p *progressor) pollForAll() {
	e := p.a.e
	for !p.over.Load() && e.load.view().pending() != 0 {
		out := e.poll(-1)
		if out == moved {
			continue
		}
		e.settle(-1)
		switch {
		case e.shared():
			yieldCPU()
		case out < polled:
			relax(0, true)
		}
	}
}

// spareable is what the policy asks of a scheduler that is to give a processor away.
type spareable interface {
	DisableVP(vp int) error
	EnableVP(vp int) error
	BindTo(vp int) (free func(), err error)
}

// dedicate takes the processor from the scheduler. ErrParameter: it has no such one, or
// no other.
func (a *attachment) dedicate(vp int) (err error) {
	s, ok := a.s.(spareable)
	switch {
	case !ok:
		err = errors.New("the scheduler cannot take a VP out of use")
	case vp >= a.s.NumVP():
		err = fmt.Errorf("the scheduler has VPs 0 to %d", a.s.NumVP()-1)
	default:
		err = s.DisableVP(vp)
	}
	if err != nil {
		i := rowOf("dedicated")
		return fmt.Errorf("%w: %w", table[i].wrong(a.e.params.origin(i), vpText(vp)), err)
	}
	a.dedicated = &progressor{}
	a.dedicated.init(a, vp, a.dedicated.pollForAll)
	a.dedicated.rouse() // it gives the VP back when it ends
	return nil
}
