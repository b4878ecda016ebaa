package marcel_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// races is the number of time limits that meet a wake-up, over all forms, with -long.
const races = 15_000

// A unit released at the moment when the time of a waiter is over: either the
// waiter has it or the semaphore, never both, never neither. The releases are
// steered to where half of the waiters are too late.
func TestReleaseAgainstTimeLimit(t *testing.T) {
	worlds(t, func(w *world) {
		const waiters = 16
		var (
			s                   marcel.Semaphore
			begin, end          = marcel.NewBarrier(waiters + 1), marcel.NewBarrier(waiters + 1)
			mu                  sync.Mutex
			got, late           int // in this round
			gotInAll, lateInAll int
			rounds              = effort.Of(races / waiters)
		)
		for i := range waiters {
			limit := time.Duration(20+i) * time.Microsecond
			w.Go(func() {
				for range rounds {
					begin.Wait()
					ok := s.AcquireTimeout(limit)
					mu.Lock()
					if ok {
						got++
					} else {
						late++
					}
					mu.Unlock()
					end.Wait()
					end.Wait() // the round has been looked at
				}
			})
		}
		w.Go(func() {
			delay := 20 * time.Microsecond
			for round := range rounds {
				begin.Wait()
				compute(delay)
				for range waiters {
					s.Release()
				}
				end.Wait()
				left := 0
				for s.TryAcquire() {
					left++
				}
				if got+left != waiters || late != left {
					w.Errorf("round %d: %d units released, %d acquired and %d left; %d came too late", round, waiters, got, left, late)
				}
				if got > late {
					delay += time.Microsecond
				} else {
					delay -= min(delay, time.Microsecond)
				}
				gotInAll, lateInAll = gotInAll+got, lateInAll+late
				got, late = 0, 0
				end.Wait()
			}
		})
		w.all.Wait()
		w.Logf("%d in time, %d too late", gotInAll, lateInAll)
	})
}

// A signal that meets the end of the time of the first in line: it wakes that
// one, or the next one, and not both.
func TestSignalAgainstTimeLimit(t *testing.T) {
	worlds(t, func(w *world) {
		var (
			m           marcel.Mutex
			c           = marcel.NewCond(&m)
			begin, end  = marcel.NewBarrier(3), marcel.NewBarrier(3)
			first, next bool // they wait, or have waited; guarded by m
			inTime      bool // the first one has got the signal
			woken       bool // the next one has; guarded by m
			over        marcel.Semaphore
			rounds      = effort.Of(races / 16)
			inAll       int
		)
		w.Go(func() {
			for range rounds {
				begin.Wait()
				m.Lock()
				first = true
				inTime = c.WaitTimeout(30 * time.Microsecond)
				m.Unlock()
				over.Release()
				end.Wait()
			}
		})
		w.Go(func() {
			for range rounds {
				begin.Wait()
				for waits := false; !waits; marcel.Yield() {
					m.Lock()
					if waits = first; waits {
						next = true
						c.Wait()
						woken = true
					}
					m.Unlock()
				}
				end.Wait()
			}
		})
		w.Go(func() {
			delay := 20 * time.Microsecond
			for round := range rounds {
				begin.Wait()
				for waits := false; !waits; marcel.Yield() {
					m.Lock()
					waits = next
					m.Unlock()
				}
				compute(delay)
				c.Signal()
				over.Acquire()
				if inTime {
					inAll++
					delay += time.Microsecond
					m.Lock()
					if woken {
						w.Errorf("round %d: one signal woke two", round)
					}
					m.Unlock()
					c.Signal()
				} else {
					delay -= min(delay, time.Microsecond)
				}
				end.Wait() // stuck here: the signal was lost
				first, next, woken = false, false, false
			}
		})
		w.all.Wait()
		w.Logf("%d of %d in time", inAll, rounds)
	})
}

// Sleep lasts at least as long as it was told to: how much longer depends on the
// machine.
func TestSleepLastsLongEnough(t *testing.T) {
	worlds(t, func(w *world) {
		for i := range 20 {
			w.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 6))
				for range 5 {
					d := time.Duration(r.IntN(2000)) * time.Microsecond
					begin := time.Now()
					marcel.Sleep(d)
					if took := time.Since(begin); took < d {
						w.Errorf("Sleep(%v) took %v", d, took)
					}
				}
				marcel.Sleep(0)
				marcel.Sleep(-time.Hour)
			})
		}
	})
}

// While one sleeps the others of its VP run, and are not woken by its end.
func TestSleepGivesTheVPUp(t *testing.T) {
	run(t, undisturbed(), func(*sched.Scheduler) {
		var order []string
		var s marcel.Semaphore
		sleeper := marcel.Spawn(func() {
			marcel.Sleep(20 * time.Millisecond)
			order = append(order, "sleeper")
			s.Release()
		})
		waiter := marcel.Spawn(func() {
			s.Acquire()
			order = append(order, "waiter")
		})
		worker := marcel.Spawn(func() {
			for range 100 {
				marcel.Yield()
			}
			order = append(order, "worker")
		})
		for _, x := range []marcel.Thread{sleeper, waiter, worker} {
			must(t, x.Join())
		}
		if !slices.Equal(order, []string{"worker", "sleeper", "waiter"}) {
			t.Errorf("order %v", order)
		}
	})
}

// Waits that are cut short by a wake-up leave their time limit behind in no one's
// way: neither a later wait of the same thread ends early, nor another thread's.
func TestOldTimeLimitsDoNothing(t *testing.T) {
	worlds(t, func(w *world) {
		for range 4 {
			w.Go(func() {
				var s, never marcel.Semaphore
				for range effort.Of(200) {
					s.Release()
					if !s.AcquireTimeout(100 * time.Microsecond) {
						w.Error("there was a unit")
					}
					marcel.Spawn(func() { marcel.Yield(); s.Release() })
					if !s.AcquireTimeout(time.Hour) {
						w.Error("an hour is over")
					}
					begin := time.Now()
					if never.AcquireTimeout(300*time.Microsecond) || time.Since(begin) < 300*time.Microsecond {
						w.Errorf("a wait of 300us was over after %v", time.Since(begin))
					}
				}
			})
		}
	})
}
