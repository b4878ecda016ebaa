package pioman

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// The whole life of an empty task that no other one touches, beside a goroutine that
// does the same for a channel.
func BenchmarkTaskSubmitRunComplete(b *testing.B) {
	e := New(Config{})
	defer e.Close()
	var t Task
	var c Completion
	t.Init("empty", func(*Task) Status { return Done }, OneShot)
	b.ReportAllocs()
	for b.Loop() {
		t.Notify(&c, 1)
		if err := e.Submit(&t); err != nil {
			b.Fatal(err)
		}
		for !c.Test(1) {
			e.Poll()
		}
		c.Reset()
	}
}

// The same in a tree: a task of the own leaf, and one of the root, polled alone.
func BenchmarkTaskInATree(b *testing.B) {
	for _, x := range []struct{ machine, name string }{{"core:2 pu:1", "2"}, {"numa:4 l3:1 core:4 pu:1", "16"}} {
		for _, near := range []bool{true, false} {
			b.Run(map[bool]string{true: "leaf", false: "root"}[near]+" of "+x.name, func(b *testing.B) {
				e, _ := planted(b, x.machine, nil)
				var t Task
				var c Completion
				t.Init("empty", func(*Task) Status { return Done }, OneShot)
				if near {
					t.SetCPUs(topo.CPUs(1))
				}
				b.ReportAllocs()
				for b.Loop() {
					t.Notify(&c, 1)
					if err := e.Submit(&t); err != nil {
						b.Fatal(err)
					}
					for !c.Test(1) {
						e.poll(1)
					}
					c.Reset()
				}
			})
		}
	}
}

// A round of one VP in which there is nothing, or one task.
func BenchmarkRoundInATree(b *testing.B) {
	for _, tasks := range []int{0, 1} {
		b.Run(map[int]string{0: "no task", 1: "one in the root"}[tasks], func(b *testing.B) {
			e, _ := planted(b, "core:2 pu:1", nil)
			if tasks > 0 {
				counter(b, e)
			}
			for b.Loop() {
				e.poll(1)
			}
		})
	}
}

func BenchmarkGoroutineAndChannel(b *testing.B) {
	work, done := make(chan func()), make(chan struct{})
	go func() {
		for f := range work {
			f()
			done <- struct{}{}
		}
	}()
	defer close(work)
	b.ReportAllocs()
	for b.Loop() {
		work <- func() {}
		<-done
	}
}

func BenchmarkPoll(b *testing.B) {
	b.Run("no task", func(b *testing.B) {
		e := New(Config{})
		for b.Loop() {
			e.Poll()
		}
	})
	for _, n := range []int{1, 4} {
		b.Run(map[int]string{1: "one task", 4: "four tasks"}[n], func(b *testing.B) {
			e := New(Config{})
			defer e.Close()
			tasks := make([]Task, n)
			for i := range tasks {
				tasks[i].Init("poll", func(*Task) Status { return Again }, Repeat)
				if err := e.Submit(&tasks[i]); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				e.Poll()
			}
		})
	}
}

func BenchmarkNeedDone(b *testing.B) {
	e := New(Config{})
	for b.Loop() {
		e.AddPending()
		e.RemovePending()
	}
}

func BenchmarkSignalTestReset(b *testing.B) {
	var c Completion
	for b.Loop() {
		c.Signal(1)
		if !c.Test(1) {
			b.Fatal("not set")
		}
		c.Reset()
	}
}

// One turn of the loop in which Wait spins: a poll of one task and a look at the word.
func BenchmarkSpinIteration(b *testing.B) {
	e := New(Config{})
	defer e.Close()
	var t Task
	var c Completion
	turns, left := 0, 0
	t.Init("poll", func(*Task) Status {
		if left--; left <= 0 {
			c.Signal(1)
		}
		return Again
	}, Repeat)
	if err := e.Submit(&t); err != nil {
		b.Fatal(err)
	}
	e.params.BusyWait = time.Second
	for b.Loop() {
		left = 100
		if err := c.Wait(e, 1); err != nil {
			b.Fatal(err)
		}
		c.Reset()
		turns += 100
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(turns), "ns/turn")
}

// What a hook costs a computation: with nothing pending, and with a request pending but
// no poll due.
func BenchmarkSwitchHook(b *testing.B) {
	for _, pending := range []bool{false, true} {
		b.Run(map[bool]string{false: "nothing pending", true: "pending, not due"}[pending], func(b *testing.B) {
			e := engine(b, Config{Params: tuned(func(p *Params) { p.Granularity = time.Hour })})
			s := newByHand(1)
			attach(b, e, s)
			if pending {
				e.AddPending()
				defer e.RemovePending()
				s.set.Fire(hooks.Switch, 0)
			}
			for b.Loop() {
				s.set.Fire(hooks.Switch, 0)
			}
		})
	}
}

// A yield between two threads of one VP: without the engine, with it and nothing pending,
// and with a request pending whose task costs nothing.
func BenchmarkYield(b *testing.B) {
	for _, mode := range []string{"no engine", "nothing pending", "pending"} {
		b.Run(mode, func(b *testing.B) {
			s := scheduler(b, sched.Config{VPs: 1})
			e := engine(b, Config{})
			if mode != "no engine" {
				attach(b, e, s)
			}
			if mode == "pending" {
				newCounted(b, e, 0)
				e.AddPending()
				defer e.RemovePending()
			}
			marcel.RunOn(s, func() {
				var stop atomic.Bool
				other := marcel.Spawn(func() {
					for !stop.Load() {
						marcel.Yield()
					}
				})
				marcel.Yield()
				for b.Loop() {
					marcel.Yield()
				}
				stop.Store(true)
				if err := other.Join(); err != nil {
					b.Error(err)
				}
			})
		})
	}
}

// Posting and completing a request from a thread, the engine being hooked.
func BenchmarkNeedDoneOnAThread(b *testing.B) {
	s := scheduler(b, sched.Config{VPs: 1})
	e := engine(b, Config{})
	attach(b, e, s)
	marcel.RunOn(s, func() {
		for b.Loop() {
			e.AddPending()
			e.RemovePending()
		}
	})
}

// A wait that has to sleep: the signal comes from another thread of the same VP.
func BenchmarkPassiveWait(b *testing.B) {
	s := scheduler(b, sched.Config{VPs: 1})
	e := engine(b, Config{})
	attach(b, e, s)
	b.ReportAllocs()
	marcel.RunOn(s, func() {
		var ping, pong Completion
		n := b.N
		other := marcel.Spawn(func() {
			for range n {
				if err := ping.Wait(e, 1); err != nil {
					b.Error(err)
				}
				ping.Reset()
				pong.Signal(1)
			}
		})
		b.ResetTimer()
		for range n {
			ping.Signal(1)
			if err := pong.Wait(e, 1); err != nil {
				b.Error(err)
			}
			pong.Reset()
		}
		b.StopTimer()
		if err := other.Join(); err != nil {
			b.Error(err)
		}
	})
}
