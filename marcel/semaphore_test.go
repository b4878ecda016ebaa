package marcel_test

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

func TestSemaphoreCounts(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		units := func(s *marcel.Semaphore) (n int) {
			for s.TryAcquire() {
				n++
			}
			return n
		}
		var zero marcel.Semaphore
		if n := units(&zero); n != 0 {
			t.Errorf("the zero value has %d units", n)
		}
		zero.Release()
		zero.Release()
		zero.Acquire()
		if n := units(&zero); n != 1 {
			t.Errorf("%d units left, released 2, acquired 1", n)
		}
		s := marcel.NewSemaphore(3)
		if !s.AcquireTimeout(0) || !s.AcquireTimeout(-1) || !s.AcquireTimeout(math.MaxInt64) {
			t.Error("a time limit kept a unit back")
		}
		if s.AcquireTimeout(0) || s.AcquireTimeout(math.MinInt64) || s.AcquireTimeout(time.Microsecond) {
			t.Error("a unit out of nothing")
		}
		if n := units(s); n != 0 {
			t.Errorf("%d units after those that were in vain", n)
		}
	})
}

// Negative: as many releases come first, whether one waits or not.
func TestSemaphoreNegative(t *testing.T) {
	worlds(t, func(w *world) {
		const n = 5
		s := marcel.NewSemaphore(1 - n)
		var released atomic.Int32
		for range 2 {
			w.Go(func() {
				s.Acquire()
				if got := released.Load(); got < n {
					w.Errorf("passed after %d releases of %d", got, n)
				}
				s.Release()
			})
		}
		for range n {
			w.Go(func() {
				released.Add(1)
				s.Release()
			})
		}
	})
}

// A unit goes to the one that has waited longest, at once: not even the one that
// releases can take it back. Those with a time limit stand in the same line.
func TestSemaphoreIsFIFO(t *testing.T) {
	worlds(t, func(w *world) {
		const n = 9
		var s marcel.Semaphore
		got := make(chan int, n)
		for i := range n {
			p := newParty()
			w.Go(func() {
				p.here()
				if i%2 == 0 {
					s.Acquire()
				} else if !s.AcquireTimeout(time.Hour) {
					w.Error("an hour is over")
				}
				got <- i
			})
			p.parkedIn("marcel.(*Semaphore).Acquire")
		}
		for i := range n {
			if s.Release(); s.TryAcquire() {
				w.Error("took the unit of the first in line")
			}
			if g := <-got; g != i {
				w.Errorf("number %d was served as number %d", g, i)
			}
		}
	})
}

// One whose time is over leaves the line; those behind it keep their places.
func TestSemaphoreLeavesTheLine(t *testing.T) {
	worlds(t, func(w *world) {
		const n = 6
		var s marcel.Semaphore
		got := make(chan int, n)
		for i := range n {
			p := newParty()
			w.Go(func() {
				if i%2 == 0 {
					if s.AcquireTimeout(time.Millisecond) {
						w.Error("got a unit that no thread has released yet")
					}
					got <- i
					p.here()
					return
				}
				p.here()
				s.Acquire()
				got <- i
			})
			if i%2 == 1 {
				p.parkedIn("marcel.(*Semaphore).Acquire")
			}
		}
		for range n / 2 {
			if g := <-got; g%2 != 0 {
				w.Errorf("number %d has got a unit out of nothing", g)
			}
		}
		for i := 1; i < n; i += 2 {
			s.Release()
			if g := <-got; g != i {
				w.Errorf("number %d was served in the place of %d", g, i)
			}
		}
		if s.TryAcquire() {
			w.Error("a unit too many")
		}
	})
}

// Never more inside than there are units, and all units are there in the end.
func TestSemaphoreKeepsItsUnits(t *testing.T) {
	worlds(t, func(w *world) {
		const units, parties = 3, 9
		s := marcel.NewSemaphore(units)
		var inside atomic.Int32
		for i := range parties {
			w.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 1))
				for range effort.Of(2000) {
					switch r.IntN(3) {
					case 0:
						s.Acquire()
					case 1:
						if !s.TryAcquire() {
							continue
						}
					case 2:
						if !s.AcquireTimeout(time.Duration(r.IntN(50)) * time.Microsecond) {
							continue
						}
					}
					if n := inside.Add(1); n > units {
						w.Errorf("%d inside with %d units", n, units)
					}
					whatHoldersDo(r)
					inside.Add(-1)
					s.Release()
				}
			})
		}
		w.all.Wait()
		for i := range units {
			if !s.TryAcquire() {
				w.Errorf("only %d of %d units are left", i, units)
			}
		}
		if s.TryAcquire() {
			w.Error("more units than there were")
		}
	})
}

// Two that wake each other: a lost wake-up stops them.
func TestSemaphorePingPong(t *testing.T) {
	worlds(t, func(w *world) {
		var there, back marcel.Semaphore
		n, ball := effort.Of(4000), 0
		w.Go(func() {
			for range n {
				ball++
				there.Release()
				back.Acquire()
			}
		})
		w.Go(func() {
			for range n {
				there.Acquire()
				ball++
				back.Release()
			}
		})
		w.all.Wait()
		if ball != 2*n {
			w.Errorf("the ball was hit %d times in %d rounds", ball, n)
		}
	})
}

// The one that was woken may give the semaphore's memory away: Release has
// finished with it. (The race detector sees it if not.)
func TestSemaphoreMayBeDroppedAfterAcquire(t *testing.T) {
	worlds(t, func(w *world) {
		var s marcel.Semaphore
		var next, used marcel.Semaphore
		n := effort.Of(2000)
		w.Go(func() {
			for range n {
				s.Acquire()
				s = marcel.Semaphore{}
				next.Release()
			}
		})
		w.Go(func() {
			for range n {
				s.Release()
				next.Acquire()
			}
			used.Release()
		})
		used.Acquire()
	})
}

// whatHoldersDo: mostly nothing; now and then they let others run, block, tell
// that they block, or compute past their slice.
func whatHoldersDo(r *rand.Rand) {
	switch k := r.IntN(400); {
	case k < 40:
		marcel.Yield()
	case k < 44:
		marcel.Blocking(func() { nap(20 * time.Microsecond) })
	case k < 45:
		nap(20 * time.Microsecond)
	case k < 46:
		time.Sleep(20 * time.Microsecond)
	case k < 47:
		marcel.Sleep(20 * time.Microsecond)
	case k < 48 && r.IntN(10) == 0:
		compute(1500 * time.Microsecond)
	}
}
