package stress

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// barriers: no thread is in phase k+1 before all have done phase k.
func (w *round) barriers(r *rand.Rand) {
	const phases = 3
	parties := 1 + r.IntN(5)
	b := marcel.NewBarrier(parties)
	var done [phases]atomic.Int32
	w.team(r, parties, func(_ int, r *rand.Rand) {
		for k := range phases {
			done[k].Add(1)
			if r.IntN(2) == 0 {
				barrier(b).until(w, r)
			} else {
				p := b.Arrive()
				marcel.Yield()
				phase(p).until(w, r)
			}
			if n := done[k].Load(); n != int32(parties) {
				w.fail("past a barrier with %d of %d there", n, parties)
			}
		}
	})
}

// latches: a latch and a group open when all have been counted.
func (w *round) latches(r *rand.Rand) {
	n := r.IntN(6)
	l := marcel.NewLatch(n)
	var g marcel.WaitGroup
	var counted atomic.Int32
	w.made.Add(int64(n))
	for range n {
		h := g.Go(func() {
			defer w.ended.Add(1)
			counted.Add(1)
			l.CountDown()
			marcel.Yield()
			counted.Add(1)
		})
		if r.IntN(2) == 0 {
			h.Detach()
		}
	}
	w.team(r, 2, func(_ int, r *rand.Rand) {
		latch(l).until(w, r)
		if c := counted.Load(); c < int32(n) {
			w.fail("a latch opened with %d of %d there", c, n)
		}
		group(&g).until(w, r)
		if c := counted.Load(); c != int32(2*n) {
			w.fail("a wait for a group ended after %d of %d steps", c, 2*n)
		}
	})
}

// onces: the function has been run, once, when any call returns that says so.
func (w *round) onces(r *rand.Rand) {
	var o marcel.Once
	n := 0
	f := func() {
		marcel.Sleep(20 * time.Microsecond)
		n++
	}
	w.team(r, 1+r.IntN(4), func(_ int, r *rand.Rand) {
		once(&o, f).until(w, r)
		if n != 1 {
			w.fail("a once was done %d times", n)
		}
	})
}

// futex: a ball of a few turns, with words and futexes; some waiters are moved from the one
// queue to the other while they wait.
func (w *round) futex(r *rand.Rand) {
	var word atomic.Uint32
	var q, other marcel.Futex
	const turns = 10
	players := uint32(1 + r.IntN(4))
	w.team(r, int(players), func(i int, r *rand.Rand) {
		for {
			old := word.Load()
			if old >= turns {
				break
			}
			if old%players == uint32(i) {
				word.Store(old + 1)
				if r.IntN(3) == 0 {
					q.Requeue(&other, 1, -1)
					other.WakeAll()
				}
				q.WakeAll()
				continue
			}
			forms{
				func() { q.Wait(&word, old) },
				func() bool { return q.WaitTimeout(&word, old, 0) },
				func(d time.Duration) bool { return q.WaitTimeout(&word, old, d) },
				func(ctx context.Context) error {
					if err := q.WaitContext(ctx, &word, old); !errors.Is(err, marcel.ErrChanged) {
						return err
					}
					return nil
				},
			}.once(w, r)
		}
	})
	if word.Load() != turns || q.WakeAll() != 0 || other.WakeAll() != 0 {
		w.fail("a game ended in turn %d of %d, or a thread still waits", word.Load(), turns)
	}
}
