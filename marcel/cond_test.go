package marcel_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
)

// Signal wakes one, the one that has waited longest; none wakes without it.
func TestCondIsFIFO(t *testing.T) {
	worlds(t, func(w *world) {
		const n = 6
		var m marcel.Mutex
		c := marcel.NewCond(&m)
		got := make(chan int, n)
		c.Signal() // none waits: no effect
		c.Broadcast()
		for i := range n {
			p := newParty()
			w.Go(func() {
				m.Lock()
				p.here()
				if i%2 == 0 {
					c.Wait()
				} else if !c.WaitTimeout(time.Hour) {
					w.Error("an hour is over")
				}
				if m.TryLock() {
					w.Error("came back without the mutex")
				}
				m.Unlock()
				got <- i
			})
			p.parkedIn("marcel.(*Cond).Wait")
		}
		for i := range n {
			if i%2 == 0 { // with the mutex and without
				m.Lock()
				c.Signal()
				m.Unlock()
			} else {
				c.Signal()
			}
			if g := <-got; g != i {
				w.Errorf("signal number %d woke number %d", i, g)
			}
		}
	})
}

func TestCondBroadcast(t *testing.T) {
	worlds(t, func(w *world) {
		const n, rounds = 7, 50
		var m marcel.Mutex
		c := marcel.NewCond(&m)
		here := marcel.NewCond(&m)
		waiting, round := 0, 0
		for i := range n {
			w.Go(func() {
				m.Lock()
				defer m.Unlock()
				for want := 1; want <= rounds; want++ {
					if waiting++; waiting == n {
						here.Signal()
					}
					for round < want {
						if i%2 == 0 {
							c.Wait()
						} else if !c.WaitTimeout(time.Hour) {
							w.Error("an hour is over")
						}
					}
				}
			})
		}
		m.Lock()
		for range rounds {
			for waiting < n {
				here.Wait()
			}
			waiting = 0
			round++
			c.Broadcast()
		}
		m.Unlock()
	})
}

// A bounded buffer between producers and consumers, with no more signals than
// needed: if one were lost it would stand still.
func TestCondLosesNoSignal(t *testing.T) {
	worlds(t, func(w *world) {
		const producers, consumers, room = 3, 3, 2
		var (
			m         marcel.Mutex
			full      = marcel.NewCond(&m)
			empty     = marcel.NewCond(&m)
			buf       []int
			sum, want int
			each      = effort.Of(2000)
		)
		for p := range producers {
			w.Go(func() {
				for i := range each {
					m.Lock()
					for len(buf) == room {
						full.Wait()
					}
					x := p*each + i
					buf = append(buf, x)
					want += x
					m.Unlock()
					empty.Signal()
				}
			})
		}
		for i := range consumers {
			w.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 3))
				for range each {
					m.Lock()
					for len(buf) == 0 {
						if r.IntN(2) == 0 {
							empty.Wait()
						} else { // its end must not use up a signal
							empty.WaitTimeout(time.Duration(r.IntN(30)) * time.Microsecond)
						}
					}
					sum += buf[0]
					buf = buf[1:]
					full.Signal()
					m.Unlock()
				}
			})
		}
		w.all.Wait()
		if sum != want || len(buf) != 0 {
			w.Errorf("consumed %d of %d, %d items are left", sum, want, len(buf))
		}
	})
}

func TestCondTimeout(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var m marcel.Mutex
		c := marcel.Cond{L: &m}
		for _, d := range []time.Duration{-1, 0, time.Microsecond, 3 * time.Millisecond} {
			m.Lock()
			begin := time.Now()
			if c.WaitTimeout(d) {
				t.Errorf("%v: woken without a signal", d)
			}
			if took := time.Since(begin); took < d {
				t.Errorf("%v: over after %v", d, took)
			}
			if m.TryLock() {
				t.Errorf("%v: came back without the mutex", d)
			}
			m.Unlock()
		}
	})
}

// The end of a timed wait gives the mutex up meanwhile: others use it.
func TestCondTimeoutGivesTheMutexUp(t *testing.T) {
	worlds(t, func(w *world) {
		var m marcel.Mutex
		c := marcel.NewCond(&m)
		stop := false
		w.Go(func() {
			m.Lock()
			for !stop {
				c.WaitTimeout(100 * time.Microsecond)
			}
			m.Unlock()
		})
		w.Go(func() {
			for range 20 {
				lockUnlock(&m)
			}
			m.Lock()
			stop = true
			m.Unlock()
		})
	})
}

func TestCondMisuse(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		var m marcel.Mutex
		c := marcel.NewCond(&m)
		panics(t, "not locked", c.Wait)
		panics(t, "not locked", func() { c.WaitTimeout(time.Second) })
		panics(t, "nil pointer", (&marcel.Cond{}).Wait)
		c.Signal() // hangs if something is still locked
		m.Lock()
		if c.WaitTimeout(time.Microsecond) {
			t.Error("woken without a signal")
		}
		m.Unlock()
		if marcel.OnThread() {
			must(t, marcel.Spawn(func() {}).Join())
		}
	})
}
