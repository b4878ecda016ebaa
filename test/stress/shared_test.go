package stress

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
)

// A section is guarded by a mutex and sees every breach of exclusion.
type section struct {
	mu      marcel.Mutex
	inside  atomic.Int32
	count   int          // guarded by mu, and not atomic on purpose
	entered atomic.Int64 // what count has to be
}

// enter adds one to the section, staying inside for a while.
func (s *section) enter(m *mix, r *rand.Rand) {
	if r.IntN(4) == 0 {
		for !s.mu.TryLock() {
			marcel.Yield()
		}
	} else {
		s.mu.Lock()
	}
	if n := s.inside.Add(1); n != 1 {
		m.fail("%d threads are inside one section", n)
	}
	s.entered.Add(1)
	c := s.count
	switch r.IntN(16) {
	case 0, 1:
		marcel.Yield()
	case 2:
		marcel.Blocking(func() { nap(5_000) })
	}
	s.count = c + 1
	s.inside.Add(-1)
	s.mu.Unlock()
	for range r.IntN(32) { // in and out at once, where a race would be
		s.mu.Lock()
		if n := s.inside.Add(1); n != 1 {
			m.fail("%d threads are inside one section", n)
		}
		s.entered.Add(1)
		s.count++
		s.inside.Add(-1)
		s.mu.Unlock()
	}
}

func (s *section) check(m *mix) {
	if s.count != int(s.entered.Load()) {
		m.fail("a section counts %d of %d updates", s.count, s.entered.Load())
	}
	if !s.mu.TryLock() {
		m.fail("a section is locked after all have left")
	}
}

// A queue is bounded, with a condition for either side.
type queue struct {
	mu               marcel.Mutex
	notFull, notNone marcel.Cond
	items            []uint64 // guarded by mu
	in, out          atomic.Uint64
	puts, gets       atomic.Int64
}

const queueLength = 4 // short, so that both conditions are waited for

func (q *queue) init() { q.notFull.L, q.notNone.L = &q.mu, &q.mu }

// pass puts one item in and takes one out. It cannot block for ever: a thread that
// waits for an item has put one in, and one that waits for room finds it once
// those that put the items in have taken as many out.
func (q *queue) pass(m *mix, r *rand.Rand) {
	item := r.Uint64()
	q.mu.Lock()
	for len(q.items) == queueLength {
		q.notFull.Wait()
	}
	q.items = append(q.items, item)
	q.notNone.Signal()
	q.mu.Unlock()
	q.in.Add(item)
	q.puts.Add(1)
	if r.IntN(3) == 0 {
		marcel.Yield()
	}
	q.mu.Lock()
	for len(q.items) == 0 {
		q.notNone.Wait()
	}
	item = q.items[0]
	q.items = q.items[1:]
	if r.IntN(2) == 0 {
		q.notFull.Signal()
	} else {
		q.notFull.Broadcast()
	}
	q.mu.Unlock()
	q.out.Add(item)
	q.gets.Add(1)
}

func (q *queue) check(m *mix) {
	if len(q.items) != 0 || q.puts.Load() != q.gets.Load() || q.in.Load() != q.out.Load() {
		m.fail("a queue has %d items left; %d went in, %d came out; the sums %#x and %#x", len(q.items), q.puts.Load(), q.gets.Load(), q.in.Load(), q.out.Load())
	}
}
