package stress

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// A guard is a lock with what it guards: it sees every breach of exclusion.
type guard struct {
	lock   forms
	unlock func()
	read   *marcel.RWMutex        // of readers and writers
	again  *marcel.RecursiveMutex // may be locked twice
	spin   bool                   // one must not wait inside

	inside  atomic.Int32
	count   int          // guarded, and not atomic on purpose
	entered atomic.Int64 // what count has to be
}

func newGuards() (all []*guard) {
	for range 3 {
		mu := new(marcel.Mutex)
		all = append(all, &guard{lock: forms{mu.Lock, mu.TryLock, mu.LockTimeout, mu.LockContext}, unlock: mu.Unlock})
	}
	for _, p := range []marcel.Preference{marcel.PreferNeither, marcel.PreferReaders, marcel.PreferWriters} {
		rw := marcel.NewRWMutex(p)
		all = append(all, &guard{lock: forms{rw.Lock, rw.TryLock, rw.LockTimeout, rw.LockContext}, unlock: rw.Unlock, read: rw})
	}
	again, spin := new(marcel.RecursiveMutex), new(marcel.SpinLock)
	return append(all,
		&guard{lock: forms{again.Lock, again.TryLock, again.LockTimeout, again.LockContext}, unlock: again.Unlock, again: again},
		&guard{lock: forms{spin.Lock, spin.TryLock, spin.LockTimeout, spin.LockContext}, unlock: spin.Unlock, spin: true})
}

// enter goes into one of the guarded sections, to read or to write, a few times.
func (w *round) enter(r *rand.Rand) {
	g := pick(r, w.guards...)
	for range 1 + r.IntN(8) {
		if g.read != nil && r.IntN(2) == 0 {
			g.look(w, r)
			continue
		}
		if !g.lock.once(w, r) {
			continue
		}
		if n := g.inside.Add(1); n != 1 {
			w.fail("%d are inside one section", n)
		}
		g.entered.Add(1)
		c := g.count
		if !g.spin {
			g.stay(w, r)
		}
		g.count = c + 1
		g.inside.Add(-1)
		g.unlock()
	}
}

// stay spends time inside.
func (g *guard) stay(w *round, r *rand.Rand) {
	switch r.IntN(24) {
	case 0, 1:
		marcel.Yield()
	case 2:
		marcel.Blocking(func() { nap(5_000) })
	case 3:
		marcel.Sleep(upTo(r, 50*time.Microsecond))
	case 4, 5, 6, 7:
		if g.again == nil {
			break
		}
		if !g.again.TryLock() {
			w.fail("the owner cannot lock a recursive mutex again")
			break
		}
		marcel.Yield()
		g.again.Unlock()
	}
}

// look goes in as a reader.
func (g *guard) look(w *round, r *rand.Rand) {
	rw := g.read
	if !(forms{rw.RLock, rw.TryRLock, rw.RLockTimeout, rw.RLockContext}).once(w, r) {
		return
	}
	c := g.count
	if r.IntN(4) == 0 {
		marcel.Yield()
	}
	if n := g.inside.Load(); n != 0 || c != g.count {
		w.fail("%d writers are beside a reader, which sees %d, then %d", n, c, g.count)
	}
	rw.RUnlock()
}

func (g *guard) check(w *round) {
	if g.count != int(g.entered.Load()) {
		w.fail("a section counts %d of %d updates", g.count, g.entered.Load())
	}
	if !g.lock.try() {
		w.fail("a section is locked after all have left")
	}
}

// useUnits takes one of a few units and gives it back.
func (w *round) useUnits(r *rand.Rand) {
	f := acquire(w.units)
	if r.IntN(2) == 0 {
		f = choose(w.units.Case())
	}
	if f.once(w, r) {
		if r.IntN(3) == 0 {
			marcel.Yield()
		}
		w.units.Release()
	}
}

// A store is a bounded buffer with a condition on either side.
type store struct {
	mu               marcel.Mutex
	notFull, notNone marcel.Cond
	items            []uint64 // guarded by mu
	in, out          atomic.Uint64
	puts, gets       atomic.Int64
}

func (s *store) init() { s.notFull.L, s.notNone.L = &s.mu, &s.mu }

// pass puts one item in and takes one out. It cannot wait for ever: see queue.pass.
func (s *store) pass(w *round, r *rand.Rand) {
	item := r.Uint64()
	s.mu.Lock()
	for len(s.items) == queueLength {
		s.await(w, r, &s.notFull)
	}
	s.items = append(s.items, item)
	s.notNone.Signal()
	s.mu.Unlock()
	s.in.Add(item)
	s.puts.Add(1)
	s.mu.Lock()
	for len(s.items) == 0 {
		s.await(w, r, &s.notNone)
	}
	item = s.items[0]
	s.items = s.items[1:]
	if r.IntN(2) == 0 {
		s.notFull.Signal()
	} else {
		s.notFull.Broadcast()
	}
	s.mu.Unlock()
	s.out.Add(item)
	s.gets.Add(1)
}

// await waits for a condition, alone or in a Select.
func (s *store) await(w *round, r *rand.Rand, c *marcel.Cond) {
	if r.IntN(3) == 0 {
		choose(c.Case()).once(w, r)
	} else {
		wait(c).once(w, r)
	}
}

func (s *store) check(w *round) {
	if len(s.items) != 0 || s.puts.Load() != s.gets.Load() || s.in.Load() != s.out.Load() {
		w.fail("a store has %d items left; %d went in, %d came out; the sums %#x and %#x", len(s.items), s.puts.Load(), s.gets.Load(), s.in.Load(), s.out.Load())
	}
}
