package pollers

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/sched/topo"
)

// The states of a poller. asleep is 0, the value that its futex sleeps on.
const (
	asleep  uint32 = iota // in the futex or the Sleeper, or on the way there
	awake                 // polls, or waits for a turn
	starved               // waits for a turn, and has done so for a tick
)

// poller is one thread that polls, bound to a CPU.
type poller struct {
	pool *Pool
	id   int
	cpu  int

	_                                [128]byte
	state                            atomic.Uint32 // the futex. asleep -> awake: the waker, or itself; the rest: doc.go
	inSleeper                        atomic.Bool   // while asleep: it sleeps in the Sleeper; the poller writes
	bursts, wakes, starvations, naps atomic.Uint64 // the poller counts bursts and naps; the waker counts wakes, the clock starvations

	// The poller's alone.
	guard    atomic.Pointer[sentinel] // written once; Stop reads it
	patience time.Duration            // without a sentinel: how long it sleeps when the CPU is wanted
	last     int64                    // asm.Cycles when there was something to do last
	over     bool                     // it ends
	_        [128]byte
}

// main is the life of the thread. Should a handler end the goroutine, another one
// takes over: the thread of this one ends with it.
func (x *poller) main() {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() { // the process's first thread cannot end, and shall not be bound
		started := make(chan struct{})
		go func() { close(started); x.main() }()
		<-started
		runtime.UnlockOSThread()
		return
	}
	p := x.pool
	defer func() {
		p.known[x.id].Store(0)
		x.inSleeper.Store(false) // if a handler has ended the goroutine there
		if !x.over {
			go x.main()
			return
		}
		if g := x.guard.Load(); g != nil {
			g.leave()
		}
		p.ended.Done()
	}()
	if err := topo.CPUs(x.cpu).Bind(0); err != nil {
		p.warn(fmt.Errorf("pollers: cannot bind an OS thread to CPU %d (%w): going on unbound", x.cpu, err))
	}
	if x.guard.Load() == nil && !p.cfg.Ordinary {
		if err := x.engage(); err != nil {
			p.warn(fmt.Errorf("pollers: no SCHED_IDLE (%w): going on at ordinary priority, with pauses", err))
		}
	}
	p.known[x.id].Store(asm.G())
	x.live()
	x.over = true
}

// live polls, and sleeps when nothing is to be polled, until Stop.
func (x *poller) live() {
	p := x.pool
	for !p.stopping.Load() {
		if x.state.Load() == asleep {
			x.sleep()
			continue
		}
		if x.burst() {
			x.awaitCPU()
		} else {
			x.sleep()
		}
	}
}

// burst polls for Config.Burst at most. It returns false if there is nothing to do any more.
func (x *poller) burst() bool {
	p := x.pool
	x.bursts.Add(1)
	began := asm.Cycles()
	for {
		v := p.hooks.Fire(hooks.Idle, x.id)
		now := asm.Cycles()
		switch v {
		case hooks.Busy:
			x.last = now
		case hooks.Waiting:
			if now-x.last >= p.ticks.linger {
				return false
			}
		default:
			if now-x.last >= p.ticks.quiet {
				return false
			}
		}
		if now-began >= p.ticks.burst || p.stopping.Load() {
			return true
		}
		asm.Pause()
	}
}

// awaitCPU gives the CPU to the threads that want it, and returns when none does.
func (x *poller) awaitCPU() {
	p := x.pool
	p.clock.rouse()
	if g := x.guard.Load(); g != nil {
		g.await()
	} else {
		x.yield()
	}
	if x.state.CompareAndSwap(starved, awake) { // pairs with the clock's
		x.last = asm.Cycles()
		p.running.Add(1)
	}
	if n := p.running.Load(); int(n) > p.cfg.Active {
		x.giveUp()
	}
}

// politePause is how long a yield takes at most when no other thread wants the CPU.
const politePause = 20 * time.Microsecond

// yield is awaitCPU for a poller without a sentinel, that is without SCHED_IDLE.
func (x *poller) yield() {
	began := asm.Cycles()
	kernel.Yield()
	if asm.Nanos(asm.Cycles()-began) < int64(politePause) {
		x.patience = 0
		return
	}
	x.patience = min(max(2*x.patience, time.Millisecond), 16*time.Millisecond)
	for end := asm.Cycles() + asm.ToCycles(int64(x.patience)); !x.pool.stopping.Load(); {
		left := asm.Nanos(end - asm.Cycles())
		if left <= 0 {
			return
		}
		s := x.state.Load()
		futexWait(&x.state, s, left)
	}
}

// giveUp goes to sleep because Config.Active other pollers run. It enters the Sleeper as in sleep, which tells the
// engine that this poller polls no more. Otherwise one of those that stay might go to sleep in the next moment,
// because the engine believes that this one polls: both would sleep.
func (x *poller) giveUp() {
	p := x.pool
	for n := p.running.Load(); int(n) > p.cfg.Active; n = p.running.Load() {
		if !p.running.CompareAndSwap(n, n-1) {
			continue
		}
		if x.state.CompareAndSwap(awake, asleep) {
			if p.sleeper.Load() != nil {
				x.sleep()
			} else {
				x.wait()
			}
		} else { // the clock has just marked us, and counted us off too
			x.state.Store(awake)
			p.running.Add(2)
		}
		return
	}
}

// sleep is for a poller that has nothing to poll. It sleeps in the Sleeper if that lets it in, else in its futex.
// It stores asleep first, for Kick to find, and looks again after that.
func (x *poller) sleep() {
	p := x.pool
	if x.state.CompareAndSwap(awake, asleep) {
		p.running.Add(-1)
	} else {
		x.state.CompareAndSwap(starved, asleep)
	}
	s := p.sleeper.Load()
	pending := true
	if s != nil {
		p.known[x.id].Store(0) // it carries nothing meanwhile: a post in the Sleeper's polls wakes the Sleeper
		x.inSleeper.Store(true)
		if x.state.Load() == asleep && !p.stopping.Load() {
			x.naps.Add(1)
			pending = (*s).Sleep(&x.state)
		}
		x.inSleeper.Store(false)
		p.known[x.id].Store(asm.G())
	} else {
		pending = p.hooks.Fire(hooks.Idle, x.id) != hooks.Quiet
	}
	if pending {
		x.rise()
		return
	}
	x.wait()
}

// rise ends a sleep from within.
func (x *poller) rise() {
	if x.state.CompareAndSwap(asleep, awake) {
		x.pool.running.Add(1)
	}
	x.last = asm.Cycles()
}

// wait sleeps until the poller is roused.
func (x *poller) wait() {
	for x.state.Load() == asleep && !x.pool.stopping.Load() {
		futexWait(&x.state, asleep, 0)
	}
	x.last = asm.Cycles()
}

// rouse wakes a poller that is asleep; false: it was not.
func (x *poller) rouse() bool {
	if x.state.Load() != asleep || !x.state.CompareAndSwap(asleep, awake) {
		return false
	}
	p := x.pool
	p.running.Add(1)
	x.wakes.Add(1)
	kernel.FutexWake(&x.state)
	if x.inSleeper.Load() {
		if s := p.sleeper.Load(); s != nil {
			(*s).Wake()
		}
	}
	return true
}
