package pioman

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func TestCompletionBits(t *testing.T) {
	var c Completion
	if c.Test(^uint32(0)) || c.Status() != 0 {
		t.Fatal("fresh one has bits")
	}
	c.Signal(1)
	c.Signal(4)
	if !c.Test(1) || c.Test(2) || !c.Test(6) || c.Status() != 5 {
		t.Fatalf("status %#x", c.Status())
	}
	if err := c.Wait(nil, 6); err != nil {
		t.Fatal(err)
	}
	c.Reset()
	if c.Test(^uint32(0)) {
		t.Fatalf("status %#x after Reset", c.Status())
	}
	c.Signal(7)
	c.Clear(2 | 8)
	if c.Status() != 5 {
		t.Fatalf("status %#x after Clear", c.Status())
	}
}

// Bits are cleared beside waiters and signalers, and neither a waiter nor a bit of another one's gets lost.
func TestClearBesideWaiters(t *testing.T) {
	rounds := effort.Choose(500, 1000, 5000)
	e := engine(t, Config{})
	var c Completion
	var over atomic.Bool
	var clearers, all sync.WaitGroup
	clearers.Go(func() {
		for !over.Load() {
			c.Clear(1)
			runtime.Gosched()
		}
	})
	for who := range 3 {
		mine, next := uint32(2)<<who, uint32(2)<<((who+1)%3) // a bit goes round
		all.Go(func() {
			for range rounds {
				if err := c.Wait(e, mine); err != nil {
					t.Error(err)
				}
				c.Clear(mine)
				c.Signal(1)
				c.Signal(next)
			}
		})
	}
	c.Signal(2)
	finishes(t, "waiters", all.Wait)
	over.Store(true)
	finishes(t, "the clearer", clearers.Wait)
	if s := c.Status() &^ 1; s != 2 {
		t.Errorf("status %#x, want the bit that has gone round", s)
	}
}

func TestWaitRefuses(t *testing.T) {
	e := engine(t, Config{})
	var c Completion
	if err := c.Wait(e, 0); !errors.Is(err, ErrNoBits) {
		t.Error(err)
	}
	var task Task
	var inside error
	task.Init("waits", func(*Task) Status { inside = c.Wait(e, 1); return Done }, OneShot)
	submit(t, e, &task)
	e.Poll()
	if !errors.Is(inside, ErrInHandler) || !strings.Contains(inside.Error(), "handler") {
		t.Error(inside)
	}
}

func TestWaitTimeout(t *testing.T) {
	for _, hooked := range []bool{false, true} {
		e := engine(t, Config{})
		if hooked {
			attach(t, e, scheduler(t, sched.Config{}))
		}
		var c Completion
		for _, d := range []time.Duration{-1, 0, time.Microsecond, 3 * time.Millisecond} {
			began := time.Now()
			if err := waitFor(&c, e, 1, d); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("hooked %v, %v: %v", hooked, d, err)
			}
			if took := time.Since(began); took < d {
				t.Errorf("hooked %v: %v took only %v", hooked, d, took)
			}
			if c.hasWaiter() || e.Pending() != 0 {
				t.Errorf("hooked %v, %v: word %#x, %d pending afterwards", hooked, d, c.word.Load(), e.Pending())
			}
		}
		c.Signal(1)
		if err := waitFor(&c, e, 1, time.Hour); err != nil {
			t.Errorf("signaled before: %v", err)
		}
	}
}

// Any number may sleep on one completion: for any bits, for all of several, with and without a
// time limit. Each is woken by what he waits for, and by nothing less.
func TestSeveralWaiters(t *testing.T) {
	for _, hooked := range []bool{false, true} {
		e := engine(t, Config{Params: tuned(func(p *Params) { p.explicitSleep = time.Hour })})
		if hooked {
			attach(t, e, scheduler(t, sched.Config{}))
		}
		var c Completion
		var back [6]atomic.Bool
		waits := [6]func() error{
			func() error { return c.Wait(e, 1) },
			func() error { return c.WaitAll(e, 1|2) },
			func() error { return c.WaitAll(e, 1|2|4) },
			func() error { return c.Wait(e, 2|4) },
			func() error { return waitFor(&c, e, 4, time.Hour) },
			func() error { return waitAllFor(&c, e, 2|4, time.Hour) },
		}
		var wg sync.WaitGroup
		for i, wait := range waits {
			wg.Go(func() {
				if err := wait(); err != nil {
					t.Errorf("hooked %v: %d: %v", hooked, i, err)
				}
				back[i].Store(true)
			})
		}
		eventually(t, "all asleep", func() bool { return listed(e) == len(waits) })
		for _, step := range []struct {
			bits  uint32
			leave []int
			left  int
		}{{8, nil, 6}, {1, []int{0}, 5}, {2, []int{1, 3}, 3}, {4, []int{2, 4, 5}, 0}} {
			c.Signal(step.bits)
			for _, i := range step.leave {
				eventually(t, "woken", back[i].Load)
			}
			if n := 0; true {
				for i := range back {
					if !back[i].Load() {
						n++
					}
				}
				if n != step.left {
					t.Errorf("hooked %v: bits %d: %d left, want %d", hooked, step.bits, n, step.left)
				}
			}
		}
		finishes(t, "waiters", wg.Wait)
		if c.hasWaiter() || e.Pending() != 0 {
			t.Errorf("hooked %v: left behind: waiters %v, %d pending", hooked, c.hasWaiter(), e.Pending())
		}
	}
}

// listed counts the waiters of e that stand in lists.
func listed(e *Engine) (n int) {
	parking.each(e, func(p *parker) bool {
		if p.listed.Load() {
			n++
		}
		return true
	})
	return n
}

// sleeping counts the waiters of e that sleep, or are about to.
func sleeping(e *Engine) (n int) {
	parking.each(e, func(p *parker) bool {
		if p.state.Load() != awake {
			n++
		}
		return true
	})
	return n
}

// parkersFree tells that no parker is in use, asleep, listed, or has a unit too many.
func parkersFree(t testing.TB) {
	t.Helper()
	for _, b := range parking.blocks() {
		for i := range b {
			if p := &b[i]; p.state.Load() != awake || p.listed.Load() || p.engine.Load() != nil || p.sem.TryAcquire() {
				t.Errorf("parker %d is left in state %d, listed %v, in use %v, or with a unit", p.index, p.state.Load(), p.listed.Load(), p.engine.Load() != nil)
			}
		}
	}
}

// A signal of other bits wakes the sleeper, which looks and sleeps again.
func TestOtherBitsDoNotEndAWait(t *testing.T) {
	e := engine(t, Config{})
	attach(t, e, scheduler(t, sched.Config{}))
	var c Completion
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Wait(e, 8); err != nil {
			t.Error(err)
		}
		done.Store(true)
	})
	for i := range 200 {
		eventually(t, "waiter sleeps", c.hasWaiter)
		c.Signal(1 << (i % 3))
		if done.Load() {
			t.Fatal("ended by other bits")
		}
	}
	c.Signal(8)
	finishes(t, "waiter", wg.Wait)
}

// enlist, withdraw and Signal are linearizable: the one that holds the waiting bit is woken
// by the signal that takes it away, and by no other.
func TestCompletionIsLinearizable(t *testing.T) {
	type input struct {
		op   string // "signal", "test"
		bits uint32
	}
	model := porcupine.Model{
		Init: func() any { return uint32(0) },
		Step: func(state, in, out any) (bool, any) {
			s, i := state.(uint32), in.(input)
			if i.op == "signal" {
				return true, s | i.bits
			}
			return out.(uint32) == s, s
		},
	}
	rounds := 500
	if testing.Short() {
		rounds = 100
	}
	e := engine(t, Config{})
	for round := range rounds {
		var c Completion
		var clock atomic.Int64
		var mu sync.Mutex
		var history []porcupine.Operation
		record := func(client int, in input, f func() any) {
			call := clock.Add(1)
			out := f()
			end := clock.Add(1)
			mu.Lock()
			defer mu.Unlock()
			history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
		}
		var wg sync.WaitGroup
		for k := range 3 {
			wg.Go(func() {
				record(k, input{"signal", 1 << k}, func() any { c.Signal(1 << k); return nil })
				record(k, input{"test", 0}, func() any { return c.Status() })
			})
		}
		wg.Go(func() { // a waiter that comes and goes
			p := parking.get(e)
			for range 3 {
				p.prepare(onSemaphore, true)
				if c.enlist(p, want{bits: 4}) {
					runtime.Gosched()
					c.withdraw(p)
				}
				p.cancel()
				record(3, input{"test", 0}, func() any { return c.Status() })
			}
			parking.put(p)
		})
		wg.Wait()
		record(3, input{"test", 0}, func() any { return c.Status() })
		if !porcupine.CheckOperations(model, history) {
			t.Fatalf("round %d: not linearizable: %+v", round, history)
		}
		if c.Status() != 7 {
			t.Fatalf("status %#x", c.Status())
		}
	}
	parkersFree(t)
}

// poisoned is a word with a list that begins with no parker.
const poisoned = 1<<63 | 0xdead

// poison is what memory holds that must not be touched.
type poison struct {
	c    Completion
	word [4]uint64
}

// The signaler must not touch the object once the waiter may have left: the waiter
// overwrites it at once, with plain writes where the race detector sees them, and
// with values that a late compare-and-swap or a late look at the parker would
// turn into damage; then the memory becomes another completion.
func TestSignalerDoesNotTouchTheObjectAfterwards(t *testing.T) {
	for name, on := range map[string]struct {
		hooked, threads bool
		rounds          int // fewer for threads: the signaler lies ready on their P, and a disturber beside it steals nothing
	}{
		"explicit, goroutines": {rounds: 1000},
		"hooked, goroutines":   {hooked: true, rounds: 30000},
		"hooked, threads":      {hooked: true, threads: true, rounds: 3000},
	} {
		t.Run(name, func(t *testing.T) {
			rounds := effort.Of(on.rounds)
			e := engine(t, Config{Params: tuned(func(p *Params) {
				p.BusyWait, p.explicitSpin = time.Microsecond, 100*time.Microsecond
			})})
			run := func(f func()) { f() }
			if on.hooked {
				s := scheduler(t, sched.Config{})
				attach(t, e, s)
				if on.threads {
					run = func(f func()) { marcel.RunOn(s, f) }
				}
			}
			type order struct{ o *poison }
			work := make(chan order, 1)
			var wg sync.WaitGroup
			wg.Go(func() {
				i := int64(0)
				for w := range work {
					// Some come during the spin, some after it.
					for end := asm.Cycles() + asm.ToCycles(i%16*10_000); asm.Cycles() < end; {
						runtime.Gosched()
					}
					i++
					w.o.c.Signal(2)
				}
			})
			// Wakes for no reason let waiters leave before their signaler is through.
			var stop atomic.Bool
			var disturber sync.WaitGroup
			disturber.Go(func() {
				for !stop.Load() {
					parking.wakeAll(e)
					runtime.Gosched()
				}
			})
			finishes(t, "rounds", func() {
				run(func() {
					objects := make([]poison, 4)
					for i := range rounds {
						o := &objects[i%len(objects)]
						o.c = Completion{}
						o.word = [4]uint64{1, 2, 3, uint64(i)}
						work <- order{o}
						if err := o.c.Wait(e, 2); err != nil {
							t.Error(err)
							return
						}
						was := o.c.Status()
						*o = poison{word: [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
						o.c.word.Store(poisoned)
						for range i % 8 {
							runtime.Gosched()
						}
						if got := o.c.word.Load(); got != poisoned || was != 2 {
							t.Errorf("round %d: a thread touched the object: %#x, status was %#x", i, got, was)
							return
						}
					}
				})
			})
			close(work)
			wg.Wait()
			stop.Store(true)
			disturber.Wait()
			if e.Pending() != 0 {
				t.Errorf("%d pending", e.Pending())
			}
		})
	}
}

// A wait that timed out, and the next one on the same object, with a signaler
// that may have read the first one's parker: each signal wakes exactly the wait in
// progress, none gets lost.
func TestSignalsAndTimeoutsRace(t *testing.T) {
	for _, hooked := range []bool{false, true} {
		e := engine(t, Config{Params: tuned(func(p *Params) {
			p.BusyWait, p.explicitSpin = 0, 10*time.Microsecond
		})})
		if hooked {
			attach(t, e, scheduler(t, sched.Config{}))
		}
		rounds := effort.Of(40_000)
		var c Completion
		work := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for range work {
				c.Signal(1)
			}
		})
		timeouts := 0
		finishes(t, "rounds", func() {
			for i := range rounds {
				go func() { work <- struct{}{} }()
				for {
					err := waitFor(&c, e, 1, time.Duration(i%40)*time.Microsecond)
					if err == nil {
						break
					}
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
						return
					}
					timeouts++
				}
				c.Reset()
			}
		})
		close(work)
		wg.Wait()
		t.Logf("hooked %v: %d timeouts in %d waits", hooked, timeouts, rounds)
		parkersFree(t)
	}
}

// Waiters of many completions at once, signaled by tasks that pollers run.
func TestManyWaiters(t *testing.T) {
	for name, hooked := range map[string]bool{"explicit": false, "hooked": true} {
		t.Run(name, func(t *testing.T) {
			e := engine(t, Config{Params: tuned(func(p *Params) { p.explicitSpin = 100 * time.Microsecond })})
			s := scheduler(t, sched.Config{})
			if hooked {
				attach(t, e, s)
			}
			const threads = 50
			each := 200
			if testing.Short() {
				each = 20
			}
			var order []int
			var mu sync.Mutex
			finishes(t, "threads", func() {
				marcel.RunOn(s, func() {
					var all []marcel.Thread
					for k := range threads {
						all = append(all, marcel.Spawn(func() {
							var task Task
							var c Completion
							polls := 0
							task.Init("countdown", func(*Task) Status {
								if polls--; polls > 0 {
									return Again
								}
								return Done
							}, Repeat)
							for i := range each {
								polls = (k*7 + i) % 30
								task.Notify(&c, 1)
								e.AddPending()
								if err := e.Submit(&task); err != nil {
									t.Error(err)
								}
								if err := c.Wait(e, 1); err != nil {
									t.Error(err)
								}
								e.RemovePending()
								c.Reset()
							}
							mu.Lock()
							order = append(order, k)
							mu.Unlock()
						}))
					}
					for _, x := range all {
						if err := x.Join(); err != nil {
							t.Error(err)
						}
					}
				})
			})
			slices.Sort(order)
			if len(order) != threads || e.Pending() != 0 {
				t.Fatalf("%d threads ended, %d requests pending", len(order), e.Pending())
			}
		})
	}
}

func TestParkerConsumesEachUnit(t *testing.T) {
	e := engine(t, Config{})
	p := parking.get(e)
	defer parking.put(p)
	isInactive := func(what string) {
		t.Helper()
		if p.state.Load() != awake || p.sem.TryAcquire() {
			t.Errorf("%s: state %d, or a unit is left", what, p.state.Load())
		}
	}
	p.wake()
	isInactive("woken while awake")
	p.prepare(onSemaphore, true)
	p.cancel()
	isInactive("canceled")
	p.prepare(onSemaphore, true)
	p.wake()
	p.wake()
	p.cancel()
	isInactive("woken twice, then canceled")
	p.prepare(onSemaphore, true)
	p.wake()
	p.sem.Acquire()
	isInactive("woken, then slept")
	p.prepare(onKernel, true)
	p.wake()
	p.cancel()
	isInactive("woken from the kernel")
	p.prepare(onKernel, true)
	p.cancel()
	isInactive("canceled before the kernel")
}

// A waiter sleeps on its semaphore only while something else polls, and then a signal, or a hint, ends that.
func TestSleepWhileCovered(t *testing.T) {
	e := engine(t, Config{})
	var c Completion
	p := parking.get(e)
	defer parking.put(p)
	w := wait{engine: e, completion: &c, want: want{bits: 1}}
	finishes(t, "no poller polls", func() { w.sleepCovered(p) })
	if c.hasWaiter() || p.state.Load() != awake {
		t.Errorf("waiter %v, state %d", c.hasWaiter(), p.state.Load())
	}
	attach(t, e, newByHand(1))
	for name, wake := range map[string]func(){"signal": func() { c.Signal(1) }, "hint": func() { parking.wakeAll(e) }} {
		var waker sync.WaitGroup
		waker.Go(func() {
			eventually(t, "asleep", func() bool { return p.state.Load() == onSemaphore })
			wake()
		})
		finishes(t, name, func() { w.sleepCovered(p) })
		waker.Wait()
		c.Reset()
	}
}

// One that sleeps because hooks poll polls itself when they no longer do.
func TestStopWakesSleepingWaiters(t *testing.T) {
	e := engine(t, Config{})
	stop := attach(t, e, newByHand(1)) // whose hooks are not fired
	var task Task
	var c Completion
	task.Init("once", func(*Task) Status { return Done }, Repeat)
	task.Notify(&c, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Wait(e, 1); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "asleep", c.hasWaiter)
	submit(t, e, &task)
	stop()
	finishes(t, "waiter", wg.Wait)
}

// hasWaiter tells whether a waiter sleeps here, or is about to; it says no while the list is in hand.
func (c *Completion) hasWaiter() bool { return c.word.Load() > statusMask }
