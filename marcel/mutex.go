package marcel

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// Mutex is a mutual exclusion lock for threads and goroutines alike. Waiters are woken one at a time,
// in order of arrival. Until the woken waiter runs, other threads may take the mutex before it, which
// keeps the throughput high. After 512 times the threads that run on its VP queue up behind it
// instead; if it runs on another VP, Unlock hands it the mutex. If the woken waiter runs and finds the
// mutex taken for long, the next Unlock hands it the mutex, too. So a Lock parks twice at most, and no
// thread waits for ever. (sync.Mutex hands over after a millisecond of waiting.) The zero value is
// unlocked. It takes 32 bytes and must not be copied after first use.
type Mutex struct {
	state atomic.Uint32
	mu    sched.Spin // guards the fields below, and every change of state but the fast ones
	// wokenOnWay: a waiter has been woken and has not yet looked.
	wokenOnWay bool
	// firstOvertaken: the first waiter in q has been overtaken, so the next Unlock hands the mutex to it.
	firstOvertaken bool
	// reserved: the mutex is locked, and belongs to the next woken waiter that looks: the one to which Unlock gave it,
	// or another one, if a thread has unlocked the mutex in the meantime, which any thread may.
	reserved bool
	queue    sched.WaitQueue // the waiters
}

// The state of a Mutex:
//
//	mutexLocked     a thread or goroutine has the mutex
//	mutexWaiting    Unlock has to look at q. It may be clear while q is not empty if a
//	                woken waiter is on its way, which sets it again
//	mutexWatched    the woken waiter runs, and waits until the passes are used up
//	mutexExhausted  the passes are used up: the woken waiter is to get the mutex next
//	passes          how many more times the mutex may be freed until then; not 0 while
//	                a woken waiter is on its way, unless exhausted
//
//	free ── Lock, TryLock: compare-and-swap ─────────────────────────────► locked
//	locked, not waiting ── Unlock: compare-and-swap, takes one pass ─────► free
//	locked, last pass, watched ── Unlock, under mu ──────────────────────► locked, reserved
//	locked, last pass ── Unlock: compare-and-swap ───────────────────────► free, exhausted
//	locked, waiting ── Unlock, under mu: wakes the first, grants passes ─► free
//	locked, waiting, firstOvertaken ── Unlock, under mu ─────────────────► locked, reserved
//
// The passes make the lock fair where the scheduler alone would not be. A woken waiter may stand in the run queue of a
// VP whose running thread takes and frees the mutex all the time, until its slice of milliseconds ends. When the passes
// are used up that thread joins the queue of the mutex instead, and its VP goes on with the waiter. Or the waiter runs
// on another VP: see watchPasses. In both cases as many critical sections as there are passes share the cost of one
// switch. If it can be avoided Unlock does not hand the mutex to a waiter that does not run: the mutex would be locked
// in vain until that waiter runs.
const (
	mutexLocked    = 1
	mutexWaiting   = 2
	mutexWatched   = 4
	mutexExhausted = 8
	onePass        = 16

	mutexPasses = 512

	mutexSpins = 30  // looks before parking, if no other thread wants the VP
	watchGap   = 200 // ns: the shortest time between two looks of watchPasses
)

// Lock takes the mutex, or waits until it can.
func (m *Mutex) Lock() {
	if !m.state.CompareAndSwap(0, mutexLocked) { // counterparts: itself, Unlock
		m.lockBeside()
	}
}

// lockBeside is Lock when the mutex is not free, or others want it. It is a function of its own so that the compiler
// inlines Lock.
func (m *Mutex) lockBeside() { _ = m.lock(nil) }

// TryLock takes the mutex if it is free, and reports whether it was. It does not block.
func (m *Mutex) TryLock() bool {
	for {
		s := m.state.Load()
		if s&(mutexLocked|mutexWaiting) != 0 { // waiting alone: another thread takes it just now
			return false
		}
		if m.state.CompareAndSwap(s, s|mutexLocked) {
			return true
		}
	}
}

// LockTimeout is Lock for at most d: it returns false if the mutex was not to be had in time. If d <= 0 it is TryLock.
func (m *Mutex) LockTimeout(d time.Duration) bool {
	return m.TryLock() || d > 0 && m.lock(within(d)) == nil
}

// LockContext is Lock until ctx is done: then it returns the cause, also if the mutex was free.
func (m *Mutex) LockContext(ctx context.Context) error {
	lim, err := under(ctx)
	if err != nil || m.TryLock() {
		return err
	}
	return m.lock(lim)
}

// lock is Lock when the mutex is taken or others are to come first, until lim is reached; nil: no limit.
func (m *Mutex) lock(lim *sched.Limit) error {
	if m.spin() {
		return nil
	}
	var end time.Time
	if lim != nil && lim.Timeout > 0 {
		end = time.Now().Add(lim.Timeout)
	}
	c := sched.EnterLibrary()
	m.mu.Lock()
	if !m.yields() && m.take() {
		m.mu.Unlock()
		c.Leave()
		return nil
	}
	if err := wait(c.As(sched.InMutex), &m.queue, &m.mu, lim); err != nil {
		return err
	}
	m.watchPasses()
	for {
		c = sched.Enter()
		m.mu.Lock()
		if m.reserved {
			m.reserved = false
			m.mu.Unlock()
			c.Leave()
			return nil
		}
		m.wokenOnWay = false
		if m.take() {
			m.mu.Unlock()
			c.Leave()
			return nil
		}
		m.firstOvertaken = true
		again := sched.Limit{First: true}
		if lim != nil {
			again.Context = lim.Context
		}
		if !end.IsZero() {
			again.Timeout = timeLeft(end)
		}
		if _, err := c.As(sched.InMutex).WaitUntil(&m.queue, &m.mu, again); err != nil {
			return err
		}
	}
}

// spin tries to take the mutex for a while, and reports whether it did. It gives up if waiters stand in q, or another
// thread, perhaps the owner, could use this VP.
func (m *Mutex) spin() bool {
	for range mutexSpins {
		s := m.state.Load()
		switch {
		case s&(mutexLocked|mutexWaiting) == 0:
			if s&mutexExhausted != 0 && othersMayWait() {
				return false
			}
			if m.state.CompareAndSwap(s, s|mutexLocked) {
				return true
			}
		case s != mutexLocked:
			return false
		}
		if sched.OthersReady() {
			return false
		}
		asm.Pause()
	}
	return false
}

// othersMayWait reports whether other threads or goroutines may wait for the VP or the OS thread of the caller.
func othersMayWait() bool { return sched.OthersReady() || !sched.OnThread() }

// yields reports whether the caller is to let the woken waiter go first, although the mutex is free. Under mu.
func (m *Mutex) yields() bool {
	return m.wokenOnWay && m.state.Load()&mutexExhausted != 0 && othersMayWait()
}

// watchPasses is called by a woken waiter before it looks. While a thread on another VP takes and frees the mutex all
// the time, the waiter lets that thread go on until the passes are used up; then Unlock hands it the mutex. If both
// competed instead, the cache line would go back and forth, and each section would take several times as long.
// watchPasses returns when the waiter may get the mutex, or when the passes do not decrease any more.
func (m *Mutex) watchPasses() {
	s := m.state.Load()
	left := s / onePass
	if left == 0 || left == mutexPasses && s&mutexLocked == 0 {
		return // Unlock has handed the mutex over, or no thread has taken it since
	}
	for !m.state.CompareAndSwap(s, s|mutexWatched) {
		if s = m.state.Load(); s < onePass {
			return
		}
	}
	shortest := asm.ToCycles(watchGap)
	then, gap := asm.Cycles(), 4*shortest // then: of the last progress
	for !sched.OthersReady() {
		now := asm.Cycles()
		for from := now; now-from < gap; now = asm.Cycles() {
			asm.Pause()
		}
		used := left
		left = m.state.Load() / onePass
		if used -= left; left == 0 {
			return
		}
		if used == 0 {
			if now-then > 16*shortest {
				return // no other thread takes it, or one keeps it for long
			}
			gap = shortest
			continue
		}
		// Look again when it will be our turn if they go on at this pace.
		gap = min(max((now-then)*int64(left)/int64(used), shortest), 16*shortest)
		then = now
	}
}

// take takes the mutex if it is free, and reports whether it did; if not, it sets waiting, so that Unlock looks at q.
// Under mu.
func (m *Mutex) take() bool {
	s := m.state.Or(mutexWaiting)
	if s&mutexLocked != 0 {
		return false
	}
	m.state.Store(mutexLocked | m.otherBits(s)) // no other thread changes it now: it is waiting
	return true
}

// otherBits returns the bits of the next state beside locked, if the state was s. Under mu.
func (m *Mutex) otherBits(s uint32) uint32 {
	switch {
	case m.wokenOnWay:
		return s &^ (mutexLocked | mutexWaiting)
	case m.queue.Empty():
		return 0
	}
	return mutexWaiting
}

// Unlock frees the mutex. It never blocks. Any thread or goroutine may unlock, and hooks. It panics if the mutex is not
// locked.
func (m *Mutex) Unlock() {
	if !m.state.CompareAndSwap(mutexLocked, 0) { // counterpart: Lock. A look before it costs a third of the pair
		m.unlockBeside()
	}
}

// unlockBeside is Unlock when others want the mutex, and when it is not locked.
func (m *Mutex) unlockBeside() {
	if m.pass() {
		return
	}
	c := sched.Visit()
	ok := m.unlock(c)
	c.Leave()
	if !ok {
		panic("marcel: unlock of an unlocked Mutex")
	}
}

// pass unlocks the mutex, and uses a pass, if no waiter has to be woken and the mutex need not be handed over. It tells
// whether it did.
func (m *Mutex) pass() bool {
	for {
		s := m.state.Load()
		if s&(mutexLocked|mutexWaiting) != mutexLocked {
			return false
		}
		free, ok := onePassLess(s)
		if !ok {
			return false
		}
		if m.state.CompareAndSwap(s, free) {
			return true
		}
	}
}

// onePassLess returns the free state that follows s, which is locked; ok is false if Unlock is to hand the mutex to the
// woken waiter.
func onePassLess(s uint32) (free uint32, ok bool) {
	free = s &^ (mutexLocked | mutexWaiting)
	switch left := s / onePass; {
	case left > 1:
		free -= onePass
	case s&mutexWatched != 0:
		return 0, false
	case left == 1:
		free = free - onePass | mutexExhausted
	}
	return free, true
}

// unlock is Unlock within an operation of c. It returns false if the mutex was not locked.
func (m *Mutex) unlock(c *sched.Co) bool {
	if m.pass() {
		return true
	}
	m.mu.Lock()
	s := m.state.Load() // if it is locked no other thread changes it now, but for watchPasses
	if s&mutexLocked == 0 {
		m.mu.Unlock()
		return false
	}
	var w *sched.Waiter
	switch {
	case m.firstOvertaken:
		m.firstOvertaken = false
		if w = m.queue.Pop(); w != nil {
			m.reserved = true
			m.state.Store(mutexLocked | m.otherBits(s))
		} else { // the one that was overtaken has given up
			m.state.Store(m.otherBits(s))
		}
	case !m.wokenOnWay:
		if w = m.queue.Pop(); w != nil {
			m.wokenOnWay = true
			m.state.Store(mutexPasses * onePass)
		} else {
			m.state.Store(0)
		}
	default: // the woken waiter sets waiting again
		if free, ok := onePassLess(s); ok {
			m.state.Store(free)
		} else {
			m.wokenOnWay, m.reserved = false, true
			m.state.Store(mutexLocked | m.otherBits(s))
		}
	}
	m.mu.Unlock()
	if w != nil {
		c.Wake(w)
	}
	return true
}
