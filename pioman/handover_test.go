package pioman

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A wake that is meant for one that is about to sleep may end the sleep of another one instead. It is not lost: one
// that has been given an order does not sleep.
func TestWakeThatAnotherOneConsumed(t *testing.T) {
	e := engine(t, Config{})
	if err := e.AddSource(newPipe(t)); err != nil {
		t.Fatal(err)
	}
	e.AddPending()
	defer e.RemovePending()
	var first sync.WaitGroup
	var over atomic.Bool
	first.Go(func() {
		for !over.Load() {
			e.sleeper.sleep(forever)
		}
	})
	eventually(t, "one sleeps", func() bool { return e.load.view().asleep() })
	over.Store(true)
	var order atomic.Uint32
	order.Store(1) // for the second one, which has told that it is going to sleep
	vpSleeper{e}.Wake()
	finishes(t, "the first", first.Wait)
	finishes(t, "the second", func() {
		if !(vpSleeper{e}).Sleep(&order) {
			t.Error("refused")
		}
	})
}

// Waiters of an explicit engine leave each other alone: one sleeps in the kernel, the others on their
// semaphores, and to come to that they do not wake each other again and again.
func TestWaitersLetEachOtherSleep(t *testing.T) {
	const waiters, rounds = 4, 20
	e := with(t, func(p *Params) { p.explicitSleep, p.explicitSpin = time.Hour, 50*time.Microsecond })
	if err := e.AddSource(newPipe(t)); err != nil {
		t.Fatal(err)
	}
	for range rounds {
		naps := e.sleeper.sleeps.Load()
		var done [waiters]Completion
		var all sync.WaitGroup
		for i := range done {
			all.Go(func() {
				if err := done[i].Wait(e, 1); err != nil {
					t.Error(err)
				}
			})
		}
		eventually(t, "all sleep", func() bool {
			followers := 0
			parking.each(e, func(p *parker) bool {
				if p.state.Load() == onSemaphore {
					followers++
				}
				return true
			})
			return e.load.view().watched() && followers == waiters-1
		})
		time.Sleep(5 * time.Millisecond) // or are about to leave once more
		if n := e.sleeper.sleeps.Load() - naps; n > 4*waiters {
			t.Errorf("%d waiters: %d naps before they rest", waiters, n)
		}
		for i := range done {
			done[i].Signal(1)
		}
		finishes(t, "waiters", all.Wait)
	}
}

// Explicit waiters: one sleeps in the kernel for all, hands over when he leaves, and a
// signal by a thread on this side wakes the right one.
func TestExplicitWaitersHandOver(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for name, open := range networks {
		t.Run(name, func(t *testing.T) {
			e := engine(t, Config{Params: tuned(func(p *Params) {
				p.explicitSpin, p.explicitSleep = 20*time.Microsecond, time.Hour
			})})
			const n = 5
			for round := range rounds {
				var all [n]*receiver
				var wg sync.WaitGroup
				for i := range all {
					all[i] = newReceiver(t, e, open(t))
					wg.Go(func() {
						e.AddPending()
						defer e.RemovePending()
						if err := all[i].c.Wait(e, 1); err != nil {
							t.Error(err)
						}
					})
				}
				if round%2 == 0 {
					eventually(t, "all sleep", func() bool {
						return sleeping(e) == n
					})
				}
				for i := range all {
					k := (i*3 + round) % n
					if i%2 == 0 {
						all[k].net.put()
					} else {
						all[k].c.Signal(1)
					}
				}
				finishes(t, "waiters", wg.Wait)
				for _, r := range all {
					if err := r.task.Cancel(); err != nil {
						t.Error(err)
					}
					e.RemoveSource(r.net)
				}
			}
			if n := e.Pending(); n != 0 {
				t.Errorf("%d pending", n)
			}
		})
	}
}
