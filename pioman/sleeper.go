package pioman

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// kernelSleeper lets one OS thread at a time, the holder, sleep in the kernel for the whole engine.
// README.md has the protocol.
type kernelSleeper struct {
	engine  *Engine
	holder  atomic.Uintptr           // asm.G of the goroutine that sleeps or prepares to, 0: none
	sleeps  atomic.Uint32            // how often a holder has left; evict reads it
	sources atomic.Pointer[[]Source] // replaced as a whole under mu
	kernel  atomic.Pointer[sleepSet] // nil before its first use, and after close
	armed   []Source                 // that disarm is to disarm; only the holder uses it

	mu     spinLock
	closed bool // under mu
}

// vpSleeper is an engine's sleeper as a sched.Sleeper, by which the LWP of an idle VP blocks here.
type vpSleeper struct{ engine *Engine }

// Sleep implements sched.Sleeper. A sleep that ends by its limit, because there are Blind tasks, is followed by another
// one if the poll in between finds nothing; a return would make the scheduler poll for a while.
func (vs vpSleeper) Sleep(order *atomic.Uint32) bool {
	a := vs.engine.attached.Load()
	if a != nil && (a.othersPoll() || a.dedicated != nil || a.goroutinesPoll(asm.Cycles())) {
		return false // another idle VP, the dedicated progressor, or a goroutine polls
	}
	for {
		woken := readied.Load()
		n := vs.engine.sleeper.sleepAs(forever, true, order, 0)
		if a != nil {
			a.handOver(woken)
		}
		if n != sleepUndisturbed {
			return n != sleepRefused
		}
	}
}

// Wake implements sched.Sleeper.
func (vs vpSleeper) Wake() { vs.engine.sleeper.wake() }

// sleep blocks the OS thread until a source or wake announces something, for at most limit. It is refused at once if
// nothing is pending, or if there is a sleeper already. That one it wakes, to look again: the state that the caller has
// seen may be newer than the state for which the sleeper has armed the sources.
func (s *kernelSleeper) sleep(limit time.Duration) sleepOutcome {
	var word atomic.Uint32 // never changed: wakers wake the sleeper, whichever thread that is
	return s.sleepAs(limit, true, &word, 0)
}

// sleepAs is sleep for a caller that is to sleep only while *word is asleep. A waker changes *word before it calls
// wake. That wake may end the sleep of the holder before the caller, which empties the eventfd; but then the change
// came before that holder left, and sleepAs sees it.
//
// news reports whether anything has happened in the caller's polls. If not, and if nothing was posted, sleepAs does not
// wake a sleeper that it finds: otherwise two waiters would keep waking each other.
func (s *kernelSleeper) sleepAs(limit time.Duration, news bool, word *atomic.Uint32, asleep uint32) sleepOutcome {
	if s.engine.load.view().pending() == 0 {
		return sleepRefused
	}
	if !s.holder.CompareAndSwap(0, asm.G()) {
		if news || !s.engine.load.view().watched() {
			s.wake()
		}
		return sleepRefused
	}
	if word.Load() != asleep {
		s.holder.Store(0)
		return sleepUnready
	}
	began := asm.Cycles()
	n, armed, found := s.armAndSleep(limit)
	if armed && s.look() {
		found = true
	}
	if found && n != sleepUnready {
		n = sleepArrived
		s.engine.arrivals.Took(asm.Cycles()-began+s.engine.window(), s.engine.ticks.delay)
	}
	return n
}

// look polls all queues, and reports whether something happened.
func (s *kernelSleeper) look() bool { return s.engine.poll(-1) == roundMoved }

// armAndSleep is the part of sleepAs in which the caller is the holder; it leaves also if a handler ends the goroutine.
// It reports whether the sources were armed, so that a poll is due, and whether a poll has found something already.
func (s *kernelSleeper) armAndSleep(limit time.Duration) (n sleepOutcome, armed, found bool) {
	defer func() {
		s.engine.load.wakeUp()
		s.sleeps.Add(1)
		s.holder.Store(0)
		if a := s.engine.attached.Load(); a != nil {
			a.wakeClock()
		}
	}()
	s.engine.load.fallAsleep() // from here on posters wake the sleeper
	if out := s.engine.poll(-1); out == roundMoved || out == roundSkipped {
		return sleepUnready, false, false
	}
	if s.engine.settle(-1); s.engine.load.view().pending() == 0 {
		return sleepUnready, false, false // not refused: a poster may have seen the sleeper asleep, and relied on it
	}
	if s.engine.hasOneShots() {
		return sleepUnready, false, false // a round is bounded: the poll has not run all OneShot tasks
	}
	n, found = s.watch(limit)
	return n, true, found
}

// watch arms all sources, sleeps unless one of them has something already, and disarms them. It polls before it
// disarms, so that the arrival that has ended the sleep need not wait for the system calls of Disarm; the poll that is
// due after them finds what has arrived meanwhile.
func (s *kernelSleeper) watch(limit time.Duration) (n sleepOutcome, found bool) {
	if s.engine.params.SpareLWPs == 0 && s.engine.attached.Load() != nil {
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
	n = sleepUnready
	if limit > 0 {
		n = s.block(limit, len(list) > 0)
	}
	if n == sleepDisturbed {
		s.engine.load.wakeUp() // from here on a poster need not wake the sleeper
		found = s.look()
	}
	return n, found
}

// disarm disarms the sources that watch has armed.
func (s *kernelSleeper) disarm() {
	for _, src := range s.armed {
		src.Disarm()
	}
	s.armed = nil
}

// shortestPause is the least IdleGap for which an idle VP sleeps between two polls.
const shortestPause = 50 * time.Microsecond

// pause is the sleep between two polls where no thread may block until something comes (Params.SpareLWPs 0).
func (s *kernelSleeper) pause() sleepOutcome {
	d := max(s.engine.params.IdleGap, shortestPause)
	if k := s.kernel.Load(); k != nil {
		return k.pause(d)
	}
	sleepCPU(d)
	return sleepUndisturbed
}

// block sleeps until a source or a waker ends the sleep, for at most limit. announced: there are sources. Without them,
// and while there are Blind tasks, it sleeps for blindPeriod at most.
func (s *kernelSleeper) block(limit time.Duration, announced bool) sleepOutcome {
	period := s.engine.params.blindPeriod
	if s.engine.blind.Load() != 0 || !announced && s.engine.tasks() {
		limit = min(limit, period)
	}
	if k := s.kernel.Load(); k != nil {
		return k.wait(limit)
	}
	sleepCPU(min(limit, period)) // the kernel has refused the descriptors
	return sleepUndisturbed
}

// wake makes the sleep in progress, or the next one, return. Any thread, goroutine, handler or hook may call it.
func (s *kernelSleeper) wake() {
	if k := s.kernel.Load(); k != nil {
		k.wake()
	}
}

// evict makes the holder, which sleeps or arms at this moment, leave, and waits until it has. A caller that is the
// holder itself (a handler that it runs) need not wait: the holder takes the list of sources anew afterwards.
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

// open opens the kernel's descriptors, if they are not open: at the first source, attachment, or explicit waiter that
// sleeps.
func (s *kernelSleeper) open() error {
	if s.kernel.Load() != nil {
		return nil
	}
	s.mu.lock()
	defer s.mu.unlock()
	return s.opened()
}

// opened is open for the holder of mu.
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

// close forgets all sources and closes the kernel's descriptors, for an engine that is being closed. It makes a waiter
// that still sleeps on them leave, since no waker finds them any more.
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
