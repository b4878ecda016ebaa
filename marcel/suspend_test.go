package marcel_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Threads in every state are suspended: none takes a step until it is resumed,
// and then goes on from where it was.
func TestSuspend(t *testing.T) {
	for _, vps := range []int{1, 3} {
		run(t, brisk(vps), func(s *sched.Scheduler) {
			for range effort.Of(100) {
				var permit marcel.Semaphore
				var steps [5]atomic.Int64
				stop := atomic.Bool{}
				loop := func(i int, pause func()) marcel.Thread {
					return marcel.Spawn(func() {
						for !stop.Load() {
							steps[i].Add(1)
							pause()
						}
					})
				}
				seed := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() { steps[4].Add(1) })
				all := []marcel.Thread{
					loop(0, marcel.Yield),
					loop(1, func() { marcel.Sleep(time.Microsecond) }),
					loop(2, func() { permit.Acquire() }),
					loop(3, func() { marcel.Blocking(func() { time.Sleep(time.Microsecond) }) }),
					seed,
				}
				for range 5 {
					marcel.Yield()
				}
				for _, x := range all {
					if err := x.Suspend(); err != nil && !errors.Is(err, marcel.ErrNoThread) {
						t.Error(err)
					}
				}
				permit.Release()       // wakes the waiter, which does not go on
				for at := 0; at < 3; { // they come to their scheduling points; thread 2 may have taken the unit and wait again
					marcel.Sleep(10 * time.Microsecond)
					for ts := s.Threads(); at < 3 && (has(ts, all[at], marcel.StateSuspended) || at == 2 && has(ts, all[at], marcel.StateBlocked)); {
						at++
					}
				}
				var was [5]int64
				for i := range was {
					was[i] = steps[i].Load()
				}
				for range 10 {
					marcel.Sleep(10 * time.Microsecond)
				}
				for i := range was {
					if i != 3 && steps[i].Load() != was[i] {
						t.Errorf("thread %d took steps while it was suspended", i)
					}
				}
				stop.Store(true)
				for _, x := range all {
					if err := x.Resume(); err != nil && !x.Ended() {
						t.Error(err)
					}
					permit.Release()
					must(t, x.Join())
				}
				if steps[4].Load() != 1 {
					t.Error("the seed did not run once")
				}
				if err := seed.Suspend(); !errors.Is(err, marcel.ErrNoThread) {
					t.Errorf("suspending one that has ended: %v", err)
				}
				if err := seed.Resume(); !errors.Is(err, marcel.ErrNoThread) {
					t.Errorf("resuming one that has ended: %v", err)
				}
			}
		})
	}
}

// One that suspends itself, and others that resume it: no resumption is lost.
func TestSuspendSelf(t *testing.T) {
	worlds(t, func(w *world) {
		n := effort.Of(3000)
		var turns atomic.Int64
		x := w.s.Spawn(marcel.Attr{}, func() {
			for range n {
				must(w, marcel.Self().Suspend())
				turns.Add(1)
			}
		})
		for range 3 {
			w.Go(func() {
				for !x.Ended() {
					_ = x.Resume()
					marcel.Yield()
				}
			})
		}
		w.Go(func() {
			must(w, x.Join())
			if turns.Load() != int64(n) {
				w.Errorf("%d turns, want %d", turns.Load(), n)
			}
		})
	})
}

// What a thread was given while it was suspended is not lost: a unit, a mutex, the
// end of its time.
func TestSuspendKeepsWhatWasGiven(t *testing.T) {
	run(t, brisk(2), func(*sched.Scheduler) {
		for i := range effort.Of(300) {
			var s marcel.Semaphore
			var m marcel.Mutex
			m.Lock()
			got := make([]bool, 4)
			all := []marcel.Thread{
				marcel.Spawn(func() { s.Acquire(); got[0] = true }),
				marcel.Spawn(func() { m.Lock(); got[1] = true; m.Unlock() }),
				marcel.Spawn(func() { got[2] = s.AcquireTimeout(time.Hour) }),
				marcel.Spawn(func() { got[3] = !new(marcel.Semaphore).AcquireTimeout(10 * time.Microsecond) }),
			}
			if i%2 == 0 {
				marcel.Yield()
			}
			for _, x := range all {
				_ = x.Suspend()
			}
			s.Release()
			s.Release()
			m.Unlock()
			marcel.Sleep(20 * time.Microsecond)
			for _, x := range all {
				_ = x.Resume()
			}
			for k, x := range all {
				must(t, x.Join())
				if !got[k] {
					t.Errorf("thread %d did not get what it waited for", k)
				}
			}
			if s.TryAcquire() || !m.TryLock() {
				t.Error("something is left")
			}
		}
	})
}

func TestYieldTo(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var log []int
		var all []marcel.Thread
		for i := range 100 {
			all = append(all, marcel.Spawn(func() {
				log = append(log, i)
				marcel.Yield()
				log = append(log, i)
			}))
		}
		if !marcel.YieldTo(all[57]) || len(log) != 100 || log[0] != 57 || log[1] != 0 || log[58] != 58 {
			t.Fatalf("after YieldTo(57): %v", log) // it first, then the others in order, then the yielder
		}
		for _, x := range all {
			must(t, x.Join())
		}
	})
	run(t, undisturbed(), func(*sched.Scheduler) {
		var log []int
		me := marcel.Self()
		var all []marcel.Thread
		for i := range 3 {
			all = append(all, marcel.Spawn(func() {
				log = append(log, i)
				if i == 2 && !marcel.YieldTo(me) {
					t.Error("not ready?")
				}
			}))
		}
		if !marcel.YieldTo(all[2]) || len(log) != 1 || log[0] != 2 {
			t.Errorf("after YieldTo(2) and back: %v", log)
		}
		var never marcel.Semaphore
		blocked := marcel.Spawn(never.Acquire)
		marcel.Yield()
		for _, x := range []marcel.Thread{all[2], {}, me, blocked} {
			if marcel.YieldTo(x) {
				t.Errorf("%v was ready?", x)
			}
		}
		never.Release()
		for _, x := range append(all, blocked) {
			must(t, x.Join())
		}
	})
	if marcel.YieldTo(marcel.Spawn(func() {})) {
		t.Error("from a goroutine to a thread")
	}
}

// While preemption is disabled no other thread of the VP takes a step, however
// long it takes; after it the clock does its work again.
func TestDisablePreemption(t *testing.T) {
	for _, attr := range []bool{false, true} {
		cfg := brisk(1)
		run(t, cfg, func(s *sched.Scheduler) {
			var steps atomic.Int64
			var stop atomic.Bool
			must(t, marcel.DisablePreemption()) // else it might lose the VP before its step, and take that meanwhile
			busy := marcel.SpawnWith(marcel.Attr{NonPreemptible: attr}, func() {
				if !attr {
					must(t, marcel.DisablePreemption())
				}
				must(t, marcel.DisablePreemption())
				must(t, marcel.EnablePreemption()) // they nest
				compute := func(d time.Duration) bool {
					was := steps.Load()
					for end := time.Now().Add(d); time.Now().Before(end); {
						_ = s.CurrentVP()
					}
					return steps.Load() != was
				}
				for range 3 {
					if compute(10 * time.Millisecond) {
						t.Error("another thread ran in between")
					}
					marcel.Yield() // a scheduling point: others run
					marcel.Sleep(time.Microsecond)
					marcel.Blocking(func() { time.Sleep(time.Millisecond) })
				}
				must(t, marcel.EnablePreemption())
				must(t, marcel.EnablePreemption()) // one too many
				for !compute(time.Millisecond) {   // ends when the VP has been seized
				}
				stop.Store(true)
			})
			for !stop.Load() {
				steps.Add(1)
				marcel.Yield()
			}
			must(t, busy.Join())
			if steps.Load() == 0 {
				t.Error("the other one did not run at all")
			}
		})
	}
	if err := marcel.DisablePreemption(); !errors.Is(err, marcel.ErrNotThread) {
		t.Error(err)
	}
	if err := marcel.EnablePreemption(); !errors.Is(err, marcel.ErrNotThread) {
		t.Error(err)
	}
}

// Data of a VP need no lock between threads that are not preempted, in spite of
// steals and of others that compute past their slice.
func TestNonPreemptibleCounters(t *testing.T) {
	const vps = 3
	run(t, brisk(vps), func(s *sched.Scheduler) {
		var count [vps]struct {
			n int // deliberately plain
			_ [120]byte
		}
		rounds := effort.Of(2000)
		var all []marcel.Thread
		for range 12 {
			all = append(all, marcel.SpawnWith(marcel.Attr{NonPreemptible: true}, func() {
				for i := range rounds {
					v := &count[s.CurrentVP()]
					was := readPlain(&v.n)
					for range i % 500 {
						_ = s.CurrentVP()
					}
					writePlain(&v.n, was+1)
					if i%3 == 0 {
						marcel.Yield()
					}
				}
			}))
		}
		busy := marcel.Spawn(func() {
			for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
			}
		})
		for _, x := range append(all, busy) {
			must(t, x.Join())
		}
		sum := 0
		for i := range count {
			sum += count[i].n
		}
		if sum != 12*rounds {
			t.Errorf("counted %d of %d", sum, 12*rounds)
		}
	})
}

// The race detector does not know that a VP is a lock here.
//
//go:norace
//go:noinline
func readPlain(p *int) int { return *p }

//go:norace
//go:noinline
func writePlain(p *int, n int) { *p = n }
