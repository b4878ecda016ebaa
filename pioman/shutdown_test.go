package pioman

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Owners on two VPs and off them do all that one can do with tasks and functions of Then, while the engine
// is hooked and unhooked, and at some moment closed. Nothing runs after that on memory that is the
// owner's, nothing hangs, nothing is left.
func TestTaskSetAndShutdown(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 8
	}
	s := scheduler(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	for round := range rounds {
		e := New(Config{Params: tuned(func(p *Params) { p.BusyWait, p.explicitSpin = time.Microsecond, 20*time.Microsecond })})
		var over atomic.Bool
		var hooker, all sync.WaitGroup
		hooker.Go(func() {
			for !over.Load() {
				stop, err := e.Attach(s)
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				for range 50 {
					runtime.Gosched()
				}
				stop()
			}
		})
		for k := range 3 {
			all.Add(1)
			work := func() {
				defer all.Done()
				life(t, e, rand.New(rand.NewPCG(uint64(round), uint64(k))))
			}
			if k == 0 {
				go work()
			} else {
				s.Spawn(marcel.Attr{}, work)
			}
		}
		for range round * 20 {
			runtime.Gosched()
		}
		finishes(t, "close", func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		finishes(t, "owners", all.Wait)
		over.Store(true)
		finishes(t, "hooker", hooker.Wait)
		if e.Pending() != 0 || e.blind.Load() != 0 || e.tasks() {
			t.Errorf("round %d: %d pending, %d blind, tasks: %v", round, e.Pending(), e.blind.Load(), e.tasks())
		}
	}
	parkersFree(t)
}

// life does random things with one task and one function until the engine is closed.
func life(t *testing.T, e *Engine, rnd *rand.Rand) {
	var task Task
	var c Completion
	var mine atomic.Bool // no handler may run
	for n := 0; ; n++ {
		opt := []Options{OneShot, Repeat, Repeat | Blind}[rnd.IntN(3)]
		left := rnd.IntN(5)
		task.Init("life", func(*Task) Status {
			if mine.Load() {
				t.Error("handler runs on memory that is its owner's")
			}
			if left--; left < 0 {
				return Done
			}
			return Again
		}, opt)
		task.Notify(&c, 1)
		var ran atomic.Bool
		if err := c.Then(e, 1|2, func(uint32) { ran.Store(true) }); err != nil {
			t.Error(err)
		}
		closed := false
		if err := e.Submit(&task); err != nil {
			closed = errors.Is(err, ErrClosed)
			if !closed {
				t.Error(err)
			}
		}
		if rnd.IntN(3) > 0 && !closed {
			err := waitFor(&c, e, 1, time.Duration(rnd.IntN(100))*time.Microsecond)
			if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		}
		if err := task.Cancel(); err != nil || !task.State().Inactive() {
			t.Error(err, task.State())
		}
		mine.Store(true)
		if !closed && task.State() == StateIdle { // it has ended: its signal is there, or on its way
			for i := 0; !c.Test(1); i++ {
				relax(i, false)
			}
		}
		c.Signal(2)
		for i := 0; !ran.Load(); i++ { // in a round that we may have to make ourselves
			e.Poll()
			relax(i, false)
		}
		c.Reset()
		mine.Store(false)
		if closed {
			return
		}
	}
}
