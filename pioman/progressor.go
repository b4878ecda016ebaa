package pioman

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// progressor is an OS thread that makes progress for others: the spare LWP, beside the virtual processors, or the dedicated one,
// in the place of one of them. README.md draws it beside an idle processor (vpState), which goes through the same states on a thread of
// the scheduler's; a poller thread (package pollers) is an idle processor to the engine.
//
//	      rouse: something is pending
//	off ──────────────────────────────▶ polling ◀──────▶ blocking: it is the engine's sleeper
//	 ▲                                    │               (the spare LWP)
//	 └──── work is over ──────────────────┘
//
// The spare LWP is none of the scheduler's spares: its goroutine is not locked to an OS thread, and blocks in epoll_wait as in any system call; the
// dedicated one's is locked.
//
// It ends with the attachment. Should a handler end its goroutine, it goes on with another one.
type progressor struct {
	a    *attachment
	vp   int    // the dedicated one's processor; -1: the spare LWP
	work func() // polls and blocks until there is nothing for it to do

	started atomic.Bool
	over    atomic.Bool
	state   atomic.Uint32  // off ... blocking: rouse leads out of off, the thread does all else
	g       atomic.Uintptr // asm.G of its goroutine
	rung    chan struct{}  // holds one: what ends off
	ended   chan struct{}

	polls, finds atomic.Uintptr // the dedicated one: rounds, and those in which something happened
	sent, stays  atomic.Uint64  // the spare LWP: how often it was sent to the kernel, and went back there at once after an arrival
}

// The states of what makes progress for others.
const (
	off uint32 = iota
	polling
	blocking
)

func (p *progressor) init(a *attachment, vp int, work func()) {
	p.a, p.vp, p.work = a, vp, work
	p.rung, p.ended = make(chan struct{}, 1), make(chan struct{})
}

// rouse has it work, if it is off. One load if it is not; never blocks.
func (p *progressor) rouse() {
	if p.state.Load() != off || p.over.Load() || !p.state.CompareAndSwap(off, polling) {
		return
	}
	if !p.started.Load() && p.started.CompareAndSwap(false, true) {
		go p.main()
	}
	p.ring()
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
			p.handBack()
			go p.main()
			return
		}
		p.g.Store(0)
		if p.vp >= 0 {
			_ = s.EnableVP(p.vp) // it exists
		}
		close(p.ended)
	}()
	if p.vp >= 0 {
		runtime.LockOSThread()
		if free, err := s.BindTo(p.vp); err == nil {
			defer free()
		}
	}
	for p.await(); !p.over.Load(); p.await() {
		p.work()
		p.handBack()
	}
}

// await waits in the state off: a progressor of a VP until a task is posted, the spare LWP until a VP sends it to the
// kernel. It stores the state before it looks: a poster that posts after the look sees off, and rings.
func (p *progressor) await() {
	p.state.Store(off)
	if p.vp < 0 || p.a.e.load.view().pending() == 0 && !p.over.Load() {
		<-p.rung
	}
	p.state.Store(polling)
}

// handBack has a processor look. One that became idle while the spare LWP was in the kernel was
// refused there, and sleeps where nothing that comes can wake it: it relies on the spare LWP.
func (p *progressor) handBack() {
	if !p.over.Load() && p.a.e.load.view().pending() != 0 {
		p.a.s.Kick(-1)
	}
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

// blockForAll is the work of the spare LWP. While all processors
// compute, and what is pending has not come for the BlockingDelay, it blocks in the
// kernel, as the engine's sleeper, in their stead: then their hooks need not poll, and
// what comes is handled when it comes, not at the next tick (TD09: blocking calls
// on a spare LWP). The timer hook sends it, not while the engine has a sleeper: an LWP of a processor that went to
// sleep in the kernel, and whose processor another LWP has taken up since, stays until something comes.
func (p *progressor) blockForAll() {
	for p.sent.Add(1); p.block(); {
		p.stays.Add(1)
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
	func() {
		defer p.state.Store(polling) // also if a handler ends the goroutine
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

// pollForAll is the work of the dedicated processor, which runs no threads: it polls as long as
// requests are pending. No other processor polls at its hooks then, and none blocks in the kernel. (TBD09
// measures what that costs the computation.)
func (p *progressor) pollForAll() {
	e := p.a.e
	for !p.over.Load() && e.load.view().pending() != 0 {
		bump(&p.polls)
		out := e.poll(-1)
		if out == moved {
			bump(&p.finds)
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

// errNoVP says that a processor cannot be dedicated.
var errNoVP = errors.New("it cannot be spared")

// spareable is what the policy asks of a scheduler that is to give a processor away.
type spareable interface {
	DisableVP(vp int) error
	EnableVP(vp int) error
	BindTo(vp int) (free func(), err error)
}

// dedicate takes the processor from the scheduler. ErrParameter: it has no such one, or
// no other.
func (a *attachment) dedicate(vp int) error {
	row := &table[rowOf("dedicated")]
	text, by := a.e.params.Get(row.Name)
	s, ok := a.s.(spareable)
	if !ok {
		return fmt.Errorf("%w: the scheduler cannot take a VP out of use", row.wrong(by, text))
	}
	if vp >= a.s.NumVP() {
		return fmt.Errorf("%w: the scheduler has VPs 0 to %d", row.wrong(by, text), a.s.NumVP()-1)
	}
	if err := s.DisableVP(vp); err != nil {
		return fmt.Errorf("%w: %w: %w", row.wrong(by, text), errNoVP, err)
	}
	p := &progressor{}
	p.init(a, vp, p.pollForAll)
	a.dedicated = p
	p.rouse() // it gives the VP back when it ends
	return nil
}
