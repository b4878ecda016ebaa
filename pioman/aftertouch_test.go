package pioman

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// The signaler never touches the object after it has let go of the last waiter: the one that returns
// last takes the memory away (unmaps it: a touch is a fault) or makes something else of it (a
// touch is damage, and a race). Waiters for different bits, with and without time limits, hints for
// no reason, and functions make as many ways out of the list as there are.

// after is one life of a completion.
type after struct {
	c      *Completion
	left   atomic.Int32 // waiters and functions that are still to come back
	over   chan struct{}
	remove func() // for the last one
}

func (a *after) back() {
	if a.left.Add(-1) == 0 {
		a.remove()
		a.over <- struct{}{}
	}
}

// shapes are the ways to wait: each waits for bits of 1|2 and returns when it has them.
var shapes = []func(e *Engine, c *Completion) error{
	func(e *Engine, c *Completion) error { return c.Wait(e, 1) },
	func(e *Engine, c *Completion) error { return c.WaitAll(e, 1|2) },
	func(e *Engine, c *Completion) error {
		for errors.Is(waitAllFor(c, e, 1|2, 3*time.Microsecond), context.DeadlineExceeded) {
		}
		return c.WaitAll(e, 1|2)
	},
}

// lives runs rounds of: some waiters, two signalers, one of which also signals bits for which no waiter waits.
// place gives each life its completion, and what is to be done with that at its end.
func lives(t *testing.T, e *Engine, s *sched.Scheduler, rounds int, place func(i int) (*Completion, func())) {
	const waiters = 3
	const atLeast = 12 // rounds, three with each number of waiters: each takes some ten turns of OS threads, of a second each where dozens want the VP
	type order struct {
		a    *after
		bits uint32
	}
	signals := [2]chan order{make(chan order, 1), make(chan order, 1)}
	waits := [waiters]chan *after{}
	var all sync.WaitGroup
	for i, in := range signals {
		all.Go(func() {
			n := i
			for o := range in {
				for n++; n%7 > 3; n++ { // some come during the spin, some after it
					runtime.Gosched()
				}
				o.a.c.Signal(o.bits)
			}
		})
	}
	for i := range waits {
		in := make(chan *after, 1)
		waits[i] = in
		wait := func(a *after) {
			if err := shapes[i](e, a.c); err != nil {
				t.Error(err)
			}
			a.back()
		}
		all.Go(func() {
			for a := range in {
				if s == nil || i%2 == 0 {
					wait(a)
					continue
				}
				x := s.Spawn(marcel.Attr{}, func() { wait(a) })
				if err := x.Join(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var stop atomic.Bool
	var disturber sync.WaitGroup
	disturber.Go(func() { // hints let waiters leave before their signaler is through
		for !stop.Load() {
			parking.wakeAll(e)
			runtime.Gosched()
		}
	})
	finishes(t, "lives", func() {
		a := &after{over: make(chan struct{}, 1)}
		back := func(uint32) { a.back() }
		enough := time.Now().Add(patience / 4)
		for i := range rounds {
			if i >= atLeast && time.Now().After(enough) {
				break
			}
			n := i % (waiters + 1) // waiters of this life, if there is none only the function
			hang := i%3 == 0 || n == 0
			a.c, a.remove = place(i)
			a.left.Store(int32(n + 2)) // one for us, one for the function
			if hang {
				if err := a.c.Then(e, 1, back); err != nil {
					t.Error(err)
				}
			} else {
				a.left.Add(-1)
			}
			for k := range n {
				waits[(i+k)%waiters] <- a
			}
			signals[0] <- order{a, 1}
			signals[1] <- order{a, 2}
			a.await()
			a.back()
			a.end(e)
		}
	})
	for _, in := range signals {
		close(in)
	}
	for _, in := range waits {
		close(in)
	}
	all.Wait()
	stop.Store(true)
	disturber.Wait()
	if e.Pending() != 0 {
		t.Errorf("%d pending", e.Pending())
	}
	parkersFree(t)
}

// await returns when both signals have taken effect: then no Signal is still to come. The load of the
// status is that of a waiter that finds both bits in its spin.
func (a *after) await() {
	for i := 0; !a.c.TestAll(1 | 2); i++ {
		relax(i, false)
	}
}

// end returns when the last one has come back: of an explicit engine a poller has to call the function.
func (a *after) end(e *Engine) {
	for i := 0; ; i++ {
		select {
		case <-a.over:
			return
		default:
			e.Poll()
			relax(i, false)
		}
	}
}

func afterworlds(t *testing.T, test func(t *testing.T, e *Engine, s *sched.Scheduler, share int)) {
	tune := func(p *Params) {
		p.BusyWait, p.explicitSpin = time.Microsecond, 50*time.Microsecond
	}
	t.Run("explicit", func(t *testing.T) { test(t, engine(t, Config{Params: tuned(tune)}), nil, 10) })
	t.Run("hooked, goroutines", func(t *testing.T) {
		e, _ := hookedEngine(t, Config{Params: tuned(tune)})
		test(t, e, nil, 1)
	})
	t.Run("hooked, threads", func(t *testing.T) {
		e, s := hookedEngine(t, Config{Params: tuned(tune)})
		test(t, e, s, 4)
	})
}

func TestNobodyTouchesUnmappedCompletions(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector does not see what synchronizes through memory outside of Go's heap")
	}
	afterworlds(t, func(t *testing.T, e *Engine, s *sched.Scheduler, share int) {
		size := unix.Getpagesize()
		lives(t, e, s, effort.Of(3_000)/share, func(int) (*Completion, func()) {
			page, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err != nil {
				t.Fatal(err)
			}
			return completionAt(page), func() {
				if err := unix.Munmap(page); err != nil {
					t.Error(err)
				}
			}
		})
	})
}

func TestNobodyTouchesReusedCompletions(t *testing.T) {
	afterworlds(t, func(t *testing.T, e *Engine, s *sched.Scheduler, share int) {
		objects := make([]poison, 8)
		lives(t, e, s, effort.Of(5_000)/share, func(i int) (*Completion, func()) {
			o := &objects[i%len(objects)]
			if got := o.c.word.Load(); i >= len(objects) && got != poisoned {
				t.Errorf("life %d: a thread touched the object since its end: %#x", i, got)
			}
			*o = poison{}
			return &o.c, func() {
				*o = poison{word: [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
				o.c.word.Store(poisoned)
			}
		})
	})
}
