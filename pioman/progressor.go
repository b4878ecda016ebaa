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

// progressor is a goroutine of the engine that makes progress for others. README.md draws its states ("Which thread
// polls, when"). Its duty decides where it runs, and until when:
//
//	duty        where                                         polls                             blocks
//	serve       on any OS thread                              while no waiter and no VP does    when that is vain, or all VPs compute
//	pollForAll  locked to an OS thread, in the place of a VP  as long as something is pending   never
//
// The goroutine starts at the first wake, and ends with the attachment. If a handler ends it another goroutine takes
// its place.
type progressor struct {
	attached *attachedEngine
	vp       int    // the VP whose place it takes; -1: none, it runs on any OS thread
	duty     func() // returns when there is nothing to do

	started   atomic.Bool    // the goroutine was started, or never will be; wake and stop set it
	stopping  atomic.Bool    // the goroutine ends; stop sets it
	state     atomic.Uint32  // off ... blocking: wake leads out of off, the goroutine makes the other transitions
	toKernel  atomic.Bool    // it goes to the kernel at once, since all VPs compute; the timer hook sets it, the goroutine clears it
	goroutine atomic.Uintptr // asm.G of its goroutine
	bell      chan struct{}  // ends off; it holds one
	ended     chan struct{}  // closed when the goroutine has ended

	lowerProcs   func() // gives back the P that the goroutine has beside those of the program; nil: it has none
	checkedProcs int64  // asm.Cycles of its last look at GOMAXPROCS
}

// The states of a progressor.
const (
	off uint32 = iota
	watching
	polling
	blocking
)

const (
	shortNap      = 50 * time.Microsecond  // the first nap after a post by a goroutine that does not poll
	longNap       = time.Millisecond       // the longest nap
	maxVainNaps   = 20                     // naps with nothing pending before it is off
	checkProcsGap = int64(2 * time.Second) // between two looks whether the program has set GOMAXPROCS
)

// init sets up a progressor; wake starts its goroutine.
func (r *progressor) init(a *attachedEngine, vp int, duty func()) {
	r.attached, r.vp, r.duty = a, vp, duty
	r.bell, r.ended = make(chan struct{}, 1), make(chan struct{})
}

// wake starts the duty if the progressor is off; else it is one load. It never blocks.
func (r *progressor) wake() {
	if r.state.Load() != off || r.stopping.Load() || !r.state.CompareAndSwap(off, watching) {
		return
	}
	if !r.started.Load() && r.started.CompareAndSwap(false, true) {
		go r.main()
	}
	r.ring()
}

// send sends the progressor to the kernel, since all VPs compute and nothing has come for long. It goes at once, or
// after its nap.
func (r *progressor) send() {
	if r.state.Load() < polling && !r.toKernel.Load() {
		r.toKernel.Store(true)
		r.wake()
	}
}

// ring ends the wait of await, or the next one. It does not block.
func (r *progressor) ring() {
	select {
	case r.bell <- struct{}{}:
	default:
	}
}

// main is the goroutine of the progressor. That of a dedicated one exits locked to its OS thread, which Go then ends,
// with all that was set on it.
func (r *progressor) main() {
	r.goroutine.Store(asm.G())
	s, _ := r.attached.scheduler.(spareable)
	defer func() {
		if !r.stopping.Load() { // a handler has ended the goroutine
			go r.main()
			return
		}
		r.goroutine.Store(0)
		if r.vp >= 0 {
			_ = s.EnableVP(r.vp) // fails only if there is no such VP
		}
		if r.lowerProcs != nil {
			r.lowerProcs()
		}
		close(r.ended)
	}()
	if r.vp >= 0 {
		runtime.LockOSThread()
		if free, err := s.BindTo(r.vp); err == nil {
			defer free()
		}
	} else if r.lowerProcs == nil && len(r.attached.vps) == 0 {
		r.lowerProcs = sched.RaiseProcs(1)
	}
	for r.await(); !r.stopping.Load(); r.await() {
		r.duty()
	}
}

// await waits in the state off. It stores the state before it looks (needed): a poster that posts after the look, or a
// sleeper that leaves after it, sees off, and rings.
func (r *progressor) await() {
	r.state.Store(off)
	if !r.stopping.Load() && !r.needed() {
		<-r.bell
	}
	r.state.Store(watching)
}

// needed reports whether something is pending for which the progressor has to poll. Where there are VPs, and no
// goroutine polls, it kicks one of these instead.
func (r *progressor) needed() bool {
	v := r.attached.engine.load.view()
	switch {
	case r.vp >= 0:
		return v.pending() != 0
	case r.toKernel.Load():
		return true
	case v.pending() == 0 || v.watched():
		return false
	case len(r.attached.vps) == 0 || calls.GoroutinesPoll(asm.Cycles()) != 0:
		return true
	}
	r.attached.scheduler.Kick(-1)
	return false
}

// stop ends the progressor, and waits for the end, unless the caller is a handler that it runs. evict makes it leave
// the kernel.
func (r *progressor) stop(evict func()) {
	r.stopping.Store(true)
	if !r.started.Swap(true) {
		return // wake does not start it any more
	}
	for i := 0; r.goroutine.Load() != asm.G(); i++ {
		select {
		case <-r.ended:
			return
		default:
			r.ring()
			evict()
			relax(i, true)
		}
	}
}

// serve is the duty of the unbound progressor. It naps while waiters poll. When they have stopped it polls itself, or,
// where there are VPs, kicks one of these.
func (r *progressor) serve() {
	e, vain, nap := r.attached.engine, 0, shortNap
	seen := e.load.view().activity()
	for !r.stopping.Load() {
		if r.toKernel.Swap(false) {
			r.blockForAll()
			return
		}
		r.state.Store(watching)
		v := e.load.view()
		switch polls := calls.GoroutinesPoll(asm.Cycles()); {
		case polls != 0: // the end of the nap interrupts the goroutine that polls, if that is on the same CPU
			nap = min(max(time.Duration(asm.Nanos(polls)), shortNap), longNap)
		case v.pending() == 0:
			if vain++; vain > maxVainNaps {
				return
			}
			nap = longNap
		case v.watched():
			return
		case v.asleep():
			e.sleeper.wake() // it looks at the requests that were posted since it armed
			nap = shortNap
		case len(r.attached.vps) > 0:
			return // await kicks one
		default:
			if r.progress() {
				continue
			}
			nap = min(2*nap, longNap)
		}
		if a := e.load.view().activity(); a != seen {
			seen, vain = a, 0
		}
		sleepCPU(nap)
		r.checkProcs()
	}
}

// checkProcs raises GOMAXPROCS again if the program has set it meanwhile.
func (r *progressor) checkProcs() {
	if now := asm.Cycles(); now-r.checkedProcs > asm.ToCycles(checkProcsGap) {
		r.checkedProcs = now
		go calls.HeedProcs() // it may stop the world
	}
}

// progress polls for the window, then blocks in the kernel until something comes. It reports whether to go on at once.
// If not, arrivals follow each other closely, on a CPU that others want, and the progressor looks after each nap.
func (r *progressor) progress() bool {
	e := r.attached.engine
	r.state.Store(polling)
	active := asm.Cycles()
	wanted := false
	for offered := active; !wanted; {
		now := asm.Cycles()
		if e.load.view().pending() == 0 || r.stopping.Load() || calls.GoroutinesPoll(now) != 0 {
			return true
		}
		woken := readied.Load()
		out := e.poll(-1)
		r.attached.handOver(woken)
		if out == roundMoved {
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
			wanted = calls.Offer()
			offered = asm.Cycles()
		}
	}
	e.settle(-1)
	return r.block() || !wanted
}

// blockForAll is for the time when all VPs compute and nothing has come for the BlockingDelay: the progressor blocks in
// the kernel, as the engine's sleeper. Then the hooks of the VPs need not poll, and an arrival is handled when it
// comes, not at the next tick (TD09 makes blocking calls on a spare LWP). The timer hook sends the progressor there
// only if the engine has no sleeper: an LWP that sleeps in the kernel stays the sleeper until something comes, also if
// another LWP has taken up its VP since.
func (r *progressor) blockForAll() {
	for r.block() {
	}
}

// block is one sleep in the kernel. It reports whether to sleep there again at once.
func (r *progressor) block() bool {
	e := r.attached.engine
	if r.stopping.Load() || r.attached.idlers(asm.Cycles()) {
		return false // an idle VP polls, or blocks itself
	}
	r.state.Store(blocking)
	n := sleepRefused
	woken := readied.Load()
	func() {
		defer r.state.Store(watching) // also if a handler ends the goroutine
		n = e.sleeper.sleep(forever)
	}()
	r.attached.handOver(woken)
	switch n {
	case sleepRefused, sleepUnready:
		return false // nothing is pending, or an idle VP blocks, or hooks find something: the timer hook may send it again
	case sleepArrived:
		return !e.arrivals.UsuallyShort() // for arrivals that follow each other closely hooks poll
	}
	return e.load.view().pending() != 0
}

// pollForAll is the duty of the dedicated VP, which runs no threads: it polls as long as requests are pending. No other
// VP polls at its hooks then, and none blocks in the kernel. (TBD09 measures what that costs the computation.)
func (r *progressor) pollForAll() {
	e := r.attached.engine
	for !r.stopping.Load() && e.load.view().pending() != 0 {
		out := e.poll(-1)
		if out == roundMoved {
			continue
		}
		e.settle(-1)
		switch {
		case e.shared():
			yieldCPU()
		case out < roundPolled:
			relax(0, true)
		}
	}
}

// spareable is what a dedicated progressor needs of a scheduler.
type spareable interface {
	DisableVP(vp int) error
	EnableVP(vp int) error
	BindTo(vp int) (free func(), err error)
}

// dedicate takes the VP from the scheduler, and starts a progressor in its place. ErrParameter: the scheduler has
// no such VP, or no other one, or cannot give one away.
func (a *attachedEngine) dedicate(vp int) (err error) {
	s, ok := a.scheduler.(spareable)
	switch {
	case !ok:
		err = errors.New("the scheduler cannot take a VP out of use")
	case vp >= a.scheduler.NumVP():
		err = fmt.Errorf("the scheduler has VPs 0 to %d", a.scheduler.NumVP()-1)
	default:
		err = s.DisableVP(vp)
	}
	if err != nil {
		i := rowOf("dedicated")
		return fmt.Errorf("%w: %w", table[i].wrong(a.engine.params.origin(i), vpText(vp)), err)
	}
	a.dedicated = &progressor{}
	a.dedicated.init(a, vp, a.dedicated.pollForAll)
	a.dedicated.wake() // it gives the VP back when it ends
	return nil
}
