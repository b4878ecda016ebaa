package pioman

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// kernelSleeper puts one OS thread at a time to sleep in the kernel, for the whole engine.
// README.md has the protocol.
type kernelSleeper struct {
	e       *Engine
	holder  atomic.Uintptr           // asm.G of the one that sleeps or prepares to, 0: none
	sleeps  atomic.Uint32            // how often a holder has left
	sources atomic.Pointer[[]Source] // replaced as a whole under mu
	kernel  atomic.Pointer[sleepSet] // nil before its first use, and after close
	armed   []Source                 // the holder's: to be disarmed

	mu     latch
	closed bool
}

// vpSleeper is the face of an engine's sleeper that the scheduler sees: it has the methods of sched.Sleeper, by which the
// LWP of an idle VP blocks here.
type vpSleeper struct{ e *Engine }

// Sleep implements sched.Sleeper. It sleeps again after a sleep whose time is over, because there are Blind tasks, and
// that found nothing: the scheduler would poll hard for a while.
func (vs vpSleeper) Sleep(order *atomic.Uint32) bool {
	a := vs.e.attached.Load()
	if a != nil && (a.othersPoll() || a.dedicated != nil || a.goroutinesPoll(asm.Cycles())) {
		return false // another one polls on, or comes here itself, or the timer polls for it
	}
	for {
		woken := readied.Load()
		n := vs.e.sleeper.sleepAs(forever, true, order, 0)
		if a != nil {
			a.handOver(woken)
		}
		if n != undisturbed {
			return n != refused
		}
	}
}

// Wake implements sched.Sleeper.
func (vs vpSleeper) Wake() { vs.e.sleeper.wake() }

// sleep blocks the OS thread until a source or wake announces something, at most
// for limit. It is refused at once if nothing is pending, or if there is a sleeper
// already, which then takes a fresh look, because what the caller saw last
// may be newer than what the sleeper armed for.
func (s *kernelSleeper) sleep(limit time.Duration) slept {
	var own atomic.Uint32 // never changed: a waker means the sleeper, whichever thread that is
	return s.sleepAs(limit, true, &own, 0)
}

// sleepAs is sleep for a caller that sleeps only as long as *own is asleep. A waker changes *own first. The
// wake itself may be lost: it ends the sleep of a former holder, which empties the eventfd. But then
// the change came before that one left, and is seen here.
//
// news tells whether anything has happened in the caller's polls. If not, and if nothing was posted, there is nothing
// for the sleeper to look at afresh: two waiters would keep waking each other for it.
func (s *kernelSleeper) sleepAs(limit time.Duration, news bool, own *atomic.Uint32, asleep uint32) slept {
	if s.e.load.view().pending() == 0 {
		return refused
	}
	if !s.holder.CompareAndSwap(0, asm.G()) {
		if news || !s.e.load.view().watched() {
			s.wake()
		}
		return refused
	}
	if own.Load() != asleep {
		s.holder.Store(0)
		return unready
	}
	began := asm.Cycles()
	n, armed, found := s.armAndSleep(limit)
	if armed && s.look() {
		found = true
	}
	if found && n != unready {
		n = arrived
		s.e.arrivals.Took(asm.Cycles()-began+s.e.window(), s.e.ticks.delay)
	}
	return n
}

// look polls everything. true: something happened.
func (s *kernelSleeper) look() bool { return s.e.poll(-1) == moved }

// armAndSleep is the holder's part; it leaves also if a handler ends the goroutine.
// It tells whether the sources were armed, so that a poll is due, and whether one poll has
// found something already.
func (s *kernelSleeper) armAndSleep(limit time.Duration) (n slept, armed, found bool) {
	defer func() {
		s.e.load.wakeUp()
		s.sleeps.Add(1)
		s.holder.Store(0)
		if a := s.e.attached.Load(); a != nil {
			a.wakeClock()
		}
	}()
	s.e.load.fallAsleep() // from here on posters wake us
	if out := s.e.poll(-1); out == moved || out == skipped {
		return unready, false, false
	}
	if s.e.settle(-1); s.e.load.view().pending() == 0 {
		return unready, false, false // not refused: a poster may have seen us asleep
	}
	if s.e.hasOneShots() {
		return unready, false, false // a round is bounded: this one has not come to all that is to be run
	}
	n, found = s.watch(limit)
	return n, true, found
}

// watch arms all sources, sleeps unless one says that something is there, and disarms them.
// It handles what has ended the sleep before it disarms: that need not wait for the system
// calls of Disarm, and the poll that is due after them finds what arrived meanwhile.
func (s *kernelSleeper) watch(limit time.Duration) (n slept, found bool) {
	if s.e.params.SpareLWPs == 0 && s.e.attached.Load() != nil {
		return s.pause(), false
	}
	list := s.list()
	s.armed = list
	defer s.disarm() // also if a handler ends the goroutine
	for i, src := range list {
		if !src.Arm() {
			s.armed, limit = list[:i+1], 0
			break
		}
	}
	n = unready
	if limit > 0 {
		n = s.block(limit, len(list) > 0)
	}
	if n == disturbed {
		s.e.load.wakeUp() // from here on a poster need not wake us
		found = s.look()
	}
	return n, found
}

func (s *kernelSleeper) disarm() {
	for _, src := range s.armed {
		src.Disarm()
	}
	s.armed = nil
}

// shortestPause is the least IdleGap for which an idle processor sleeps between two polls.
const shortestPause = 50 * time.Microsecond

// pause is the sleep between two polls of a poller that must not block until something comes.
func (s *kernelSleeper) pause() slept {
	d := max(s.e.params.IdleGap, shortestPause)
	if k := s.kernel.Load(); k != nil {
		return k.pause(d)
	}
	sleepCPU(d)
	return undisturbed
}

func (s *kernelSleeper) block(limit time.Duration, announced bool) slept {
	period := s.e.params.blindPeriod
	if s.e.blind.Load() != 0 || !announced && s.e.tasks() {
		limit = min(limit, period)
	}
	if k := s.kernel.Load(); k != nil {
		return k.wait(limit)
	}
	sleepCPU(min(limit, period)) // the kernel has refused us its descriptors
	return undisturbed
}

// wake makes the sleep in progress, or the next one, return. From anywhere.
func (s *kernelSleeper) wake() {
	if k := s.kernel.Load(); k != nil {
		k.wake()
	}
}

// evict makes the holder, which sleeps or arms at this moment, leave, and waits until it has.
// A caller that is the holder itself (a handler that it runs) need not wait: the holder
// takes the list of sources anew afterwards.
func (s *kernelSleeper) evict() {
	before := s.sleeps.Load()
	for i := 0; ; i++ {
		h := s.holder.Load()
		if h == 0 || h == asm.G() || s.sleeps.Load() != before {
			return
		}
		s.wake()
		relax(i, true)
	}
}

// open opens the kernel's descriptors, unless they are: at the first source, attachment, or explicit waiter that sleeps.
func (s *kernelSleeper) open() error {
	if s.kernel.Load() != nil {
		return nil
	}
	s.mu.lock()
	defer s.mu.unlock()
	return s.opened()
}

// opened is open; under mu.
func (s *kernelSleeper) opened() error {
	switch {
	case s.closed:
		return ErrClosed
	case s.kernel.Load() != nil:
		return nil
	}
	k, err := openKernel()
	if err == nil {
		s.kernel.Store(k)
	}
	return err
}

// close lets go of all sources and of the kernel's descriptors, for an engine that is being closed. A waiter that still
// sleeps on them leaves: no waker finds them any more.
func (s *kernelSleeper) close() {
	s.mu.lock()
	s.closed = true
	s.sources.Store(nil)
	if k := s.kernel.Swap(nil); k != nil {
		k.wake()
		k.close()
	}
	s.mu.unlock()
	s.evict()
}
