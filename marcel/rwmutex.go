package marcel

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Preference says which side comes first at an RWMutex when both readers and writers want it.
type Preference uint8

const (
	// PreferNeither: phases of reading and of writing take turns (phase-fair: Brandenburg, Anderson, ECRTS 2009;
	// sync.RWMutex does the same). Readers that come while a writer waits stand behind it; when it is done, all readers
	// that wait then are let in. So a reader waits for one writer at most, a writer for the writers before it, with one
	// phase of reading before each: no thread starves.
	PreferNeither Preference = iota
	// PreferReaders: a reader waits only while a writer holds the lock. Readers that keep coming starve the writers.
	PreferReaders
	// PreferWriters: a reader waits while a writer holds the lock or waits for it. Writers that keep coming starve the
	// readers.
	PreferWriters
)

// RWMutex is a lock for many readers or one writer, for threads and goroutines alike. Writers are
// served in order of arrival, readers all at once; no thread overtakes a writer that waits, except
// readers under PreferReaders. Unlock hands the lock to the waiter, so a waiter that gives up before
// has taken nothing. A reader that locks again for reading can deadlock if a writer waits (never under
// PreferReaders). The zero value is unlocked, with PreferNeither. It takes 48 bytes and must not be
// copied after first use.
type RWMutex struct {
	state   atomic.Uint32
	mu      sched.Spin // guards the queues, and those changes of state that are marked below
	prefer  Preference
	readers sched.WaitQueue
	writers sched.WaitQueue
}

// The state of an RWMutex is the number of readers inside, or writing; and queued, if a thread waits or is about to
// give up waiting.
//
//	no writing, not queued ── RLock: compare-and-swap ────────────► a reader more
//	      (under PreferReaders also if queued)
//	free (0) ── Lock: compare-and-swap ───────────────────────────► writing
//	more than one reader, or not queued ── RUnlock: c-a-s ────────► a reader less
//	writing, not queued ── Unlock: compare-and-swap ──────────────► free
//	last reader, queued ── RUnlock: compare-and-swap ─────────────► queued alone
//	queued alone ── the same RUnlock, under mu: compare-and-swap ─► writing: passOn
//	writing, queued ── Unlock, under mu: passOn ──────────────────► writing, or readers
//
// Queued is set under mu, by threads that then wait. While it is set only a reader under PreferReaders gets in without
// mu. The thread that holds the lock for writing calls passOn, which gives it to the next ones, or frees it.
const (
	rwWriting = 1
	rwQueued  = 2
	rwReader  = 4
)

// NewRWMutex returns an unlocked RWMutex with that preference.
func NewRWMutex(p Preference) *RWMutex { return &RWMutex{prefer: p} }

// RLock locks for reading, or waits until it can.
func (m *RWMutex) RLock() {
	if !m.TryRLock() {
		_ = m.rlock(nil)
	}
}

// TryRLock locks for reading if that is possible without waiting, and reports whether it did. It does
// not block.
func (m *RWMutex) TryRLock() bool {
	for {
		s := m.state.Load()
		if !m.admits(s) {
			return false
		}
		if m.state.CompareAndSwap(s, s+rwReader) {
			return true
		}
	}
}

// RLockTimeout is RLock for at most d: it returns false if the lock was not to be had in time. If d <= 0 it is TryRLock.
func (m *RWMutex) RLockTimeout(d time.Duration) bool {
	return m.TryRLock() || m.rlock(within(d)) == nil
}

// RLockContext is RLock until ctx is done: then it returns the cause, also if the lock was free.
func (m *RWMutex) RLockContext(ctx context.Context) error { return until(ctx, m.rlock) }

// admits reports whether a reader that comes may enter.
func (m *RWMutex) admits(s uint32) bool {
	return s&rwWriting == 0 && (s&rwQueued == 0 || m.prefer == PreferReaders)
}

func (m *RWMutex) rlock(lim *sched.Limit) error { return m.enter(rwReader, m.admits, &m.readers, lim) }

// enter adds adds to the state if admits allows it; otherwise the caller waits in q, within lim; nil: without a limit.
func (m *RWMutex) enter(adds uint32, admits func(uint32) bool, q *sched.WaitQueue, lim *sched.Limit) error {
	c := sched.EnterLibrary()
	m.mu.Lock()
	for {
		s := m.state.Load()
		if admits(s) {
			if m.state.CompareAndSwap(s, s+adds) {
				m.mu.Unlock()
				c.Leave()
				return nil
			}
		} else if s&rwQueued != 0 || m.state.CompareAndSwap(s, s|rwQueued) {
			break
		}
	}
	err := wait(c.As(sched.InRWMutex), q, &m.mu, lim)
	if err != nil {
		m.gaveUp()
	}
	return err
}

// RUnlock undoes one RLock. It never blocks. It panics if no thread has locked for reading.
func (m *RWMutex) RUnlock() {
	for {
		s := m.state.Load()
		if s < rwReader {
			panic("marcel: RUnlock of an RWMutex that is not locked for reading")
		}
		if m.state.CompareAndSwap(s, s-rwReader) {
			if s-rwReader == rwQueued {
				m.endRead()
			}
			return
		}
	}
}

// endRead gives the lock to waiters after the last reader has left.
func (m *RWMutex) endRead() {
	holding(&m.mu, func() *sched.Waiter {
		if m.state.CompareAndSwap(rwQueued, rwWriting|rwQueued) {
			return m.passOn(m.prefer == PreferReaders)
		}
		return nil // others have come, or none waits any more
	})
}

// Lock locks for writing, or waits until it can.
func (m *RWMutex) Lock() {
	if !m.state.CompareAndSwap(0, rwWriting) {
		_ = m.lock(nil)
	}
}

// TryLock locks for writing if the lock is free, and reports whether it was. It does not block.
func (m *RWMutex) TryLock() bool {
	return m.state.Load() == 0 && m.state.CompareAndSwap(0, rwWriting)
}

// LockTimeout is Lock for at most d: it returns false if the lock was not to be had in time. If d <= 0 it is TryLock.
func (m *RWMutex) LockTimeout(d time.Duration) bool {
	return m.TryLock() || m.lock(within(d)) == nil
}

// LockContext is Lock until ctx is done: then it returns the cause, also if the lock was free.
func (m *RWMutex) LockContext(ctx context.Context) error { return until(ctx, m.lock) }

func (m *RWMutex) lock(lim *sched.Limit) error {
	return m.enter(rwWriting, func(s uint32) bool { return s == 0 }, &m.writers, lim)
}

// Unlock ends what Lock began. It never blocks. It panics if the lock is not locked for writing.
func (m *RWMutex) Unlock() {
	if m.state.CompareAndSwap(rwWriting, 0) {
		return
	}
	ok := false
	holding(&m.mu, func() *sched.Waiter {
		if ok = m.state.Load()&rwWriting != 0; ok {
			return m.passOn(m.prefer != PreferWriters)
		}
		return nil
	})
	if !ok {
		panic("marcel: Unlock of an RWMutex that is not locked for writing")
	}
}

// passOn gives the lock, which is held for writing, to the next ones, and returns them; it frees the lock if none
// waits. Under mu.
func (m *RWMutex) passOn(readersFirst bool) *sched.Waiter {
	var w *sched.Waiter
	n := 0
	if readersFirst {
		w, n = m.readers.PopN(-1)
	}
	if n == 0 {
		if w = m.writers.Pop(); w != nil {
			m.state.Store(rwWriting | m.queued())
			return w
		}
		w, n = m.readers.PopN(-1)
	}
	m.state.Store(uint32(n)*rwReader | m.queued())
	return w
}

// queued returns rwQueued if a waiter stands in a queue, else 0. Under mu.
func (m *RWMutex) queued() uint32 {
	if m.readers.Empty() && m.writers.Empty() {
		return 0
	}
	return rwQueued
}

// gaveUp is called by a waiter that has given up: the waiters behind it may be able to enter, and if there is none it
// clears rwQueued.
func (m *RWMutex) gaveUp() {
	holding(&m.mu, func() (w *sched.Waiter) {
		n := 0
		if m.writers.Empty() && m.state.Load()&rwWriting == 0 { // no thread becomes a writer now: queued, or none waits
			w, n = m.readers.PopN(-1)
		}
		for {
			s := m.state.Load()
			t := s + uint32(n)*rwReader
			if m.queued() == 0 {
				t &^= rwQueued
			}
			if m.state.CompareAndSwap(s, t) {
				return w
			}
		}
	})
}

// RLocker returns a sync.Locker whose Lock and Unlock are RLock and RUnlock.
func (m *RWMutex) RLocker() sync.Locker { return (*readLocker)(m) }

// readLocker is the sync.Locker of RLocker.
type readLocker RWMutex

func (r *readLocker) Lock()   { (*RWMutex)(r).RLock() }
func (r *readLocker) Unlock() { (*RWMutex)(r).RUnlock() }
