package pioman

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// The list alone, without any thread asleep: waiters for any and for all bits enlist, withdraw and
// enlist again, two signalers set a bit each, a function hangs there. The one that comes back
// last overwrites the object and begins the next life in other memory that was overwritten; a
// signaler may still be on its way out of the former one.
func TestListAtFullSpeed(t *testing.T) {
	e := engine(t, Config{})
	last := int64(effort.Of(100_000))
	const waiters = 3
	objects := make([]poison, 4)
	at := func(life int64) *Completion { return &objects[life%int64(len(objects))].c }
	for i := range objects {
		objects[i].c.word.Store(poisoned)
	}
	var life atomic.Int64
	var left atomic.Int32
	var back func()
	begin := func(n int64) {
		c := at(n)
		if got := c.word.Load(); got != poisoned {
			t.Errorf("life %d: a thread touched the object since its end: %#x", n, got)
		}
		objects[n%int64(len(objects))] = poison{}
		left.Store(waiters + 1)
		life.Store(n)
		if n == last {
			return
		}
		thenAll(c, e, 1|2, func(uint32) { back() })
	}
	back = func() {
		if left.Add(-1) != 0 {
			return
		}
		n := life.Load()
		c := at(n)
		for i := 0; !c.TestAll(1 | 2); i++ { // a signal that is still to come
			relax(i, false)
		}
		objects[n%int64(len(objects))] = poison{word: [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
		c.word.Store(poisoned)
		begin(n + 1)
	}
	until := func(n int64) {
		for i := 0; life.Load() < n; i++ {
			e.Poll()
			relax(i, false)
		}
	}
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			for n := int64(1); n < last; n++ {
				until(n)
				at(n).Signal(1 << i)
			}
		})
	}
	for i := range waiters {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 3))
			p := parking.get(e)
			for n := int64(1); n < last; n++ {
				until(n)
				c := at(n)
				for wants := (want{uint32(1 + i), i == 2}); c.enlist(p, wants); {
					for j := rnd.IntN(20); p.listed.Load() && j > 0; j-- {
						runtime.Gosched()
					}
					c.withdraw(p)
				}
				back()
			}
			parking.put(p)
		})
	}
	begin(1)
	finishes(t, "lives", func() { all.Wait(); until(last) })
	if e.Pending() != 0 {
		t.Errorf("%d pending", e.Pending())
	}
	parkersFree(t)
}

// Signals, tests and waits of all forms with tiny limits are linearizable: one that waited in vain
// did so while its bits were missing, one that did not had them.
func TestWaitsAreLinearizable(t *testing.T) {
	type input struct {
		op   string // "signal", "status", "wait"
		want want
	}
	model := porcupine.Model{
		Init: func() any { return uint32(0) },
		Step: func(state, in, out any) (bool, any) {
			s, i := state.(uint32), in.(input)
			switch i.op {
			case "signal":
				return true, s | i.want.bits
			case "status":
				return out.(uint32) == s, s
			}
			if out == nil {
				return true, s // a context that is done ends a wait whatever the status
			}
			return out.(bool) == i.want.met(s), s
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " -> ", out) },
	}
	rounds := effort.Of(800)
	for _, hooked := range []bool{false, true} {
		tune := func(p *Params) { p.BusyWait, p.explicitSpin = time.Microsecond, 5*time.Microsecond }
		e := New(Config{Params: tuned(tune)})
		if hooked {
			e, _ = hookedEngine(t, Config{Params: tuned(tune)})
		}
		for round := range rounds {
			rnd := rand.New(rand.NewPCG(uint64(round), 5))
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
			for i := range 3 {
				wg.Go(func() {
					record(i, input{"signal", want{bits: 1 << i}}, func() any { c.Signal(1 << i); return nil })
					record(i, input{"status", want{}}, func() any { return c.Status() })
				})
			}
			for i := range 3 {
				n := want{1 + rnd.Uint32N(7), rnd.IntN(2) == 0}
				d := time.Duration(rnd.IntN(30)) * time.Microsecond
				wg.Go(func() {
					for range 2 {
						record(3+i, input{"wait", n}, func() any { return waitBriefly(t, &c, e, n, d, i == 2) })
					}
				})
			}
			wg.Wait()
			if !porcupine.CheckOperations(model, history) {
				t.Fatalf("round %d: not linearizable: %+v", round, history)
			}
			if c.Status() != 7 || c.hasWaiter() || e.Pending() != 0 {
				t.Fatalf("status %#x, a waiter is left: %v, %d pending", c.Status(), c.hasWaiter(), e.Pending())
			}
		}
		if !hooked {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	parkersFree(t)
}

// waitBriefly tells whether the bits came within d; nil: a context ended before.
func waitBriefly(t *testing.T, c *Completion, e *Engine, n want, d time.Duration, cancels bool) any {
	var err error
	if cancels {
		ctx, cancel := context.WithCancel(context.Background())
		defer time.AfterFunc(d, cancel).Stop()
		defer cancel()
		if n.all {
			err = c.await(e, n, waitForm{ctx: ctx})
		} else {
			err = c.WaitContext(ctx, e, n.bits)
		}
		if errors.Is(err, context.Canceled) && ctx.Err() != nil {
			return nil
		}
	} else if n.all {
		err = waitAllFor(c, e, n.bits, d)
	} else {
		err = waitFor(c, e, n.bits, d)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	return err == nil
}
