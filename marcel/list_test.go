package marcel_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// Each state is told, and what blocked threads are blocked in.
func TestThreadsStates(t *testing.T) {
	run(t, sched.Config{VPs: 2, Slice: time.Hour}, func(s *sched.Scheduler) {
		var sem marcel.Semaphore
		end := make(chan bool)
		var m marcel.Mutex
		m.Lock()
		cond := marcel.NewCond(new(marcel.Mutex))
		on := marcel.OneVP(1)
		must(t, marcel.Self().SetVPs(on))
		var stop atomic.Bool
		want := map[string]string{}
		var all []marcel.Thread
		add := func(name, state string, body func()) {
			want[name] = state
			all = append(all, marcel.SpawnWith(marcel.Attr{Name: name, VPs: on}, body))
		}
		add("acquires", "blocked semaphore", sem.Acquire)
		add("with a limit", "blocked semaphore", func() { sem.AcquireTimeout(time.Hour) })
		add("locks", "blocked mutex", func() { passThrough(&m) })
		add("waits", "blocked condition", func() { cond.L.Lock(); cond.Wait(); cond.L.Unlock() })
		add("sleeps", "blocked sleep", func() {
			for !stop.Load() {
				marcel.Sleep(50 * time.Millisecond)
			}
		})
		add("selects", "blocked select", func() { marcel.Select(sem.Case(), marcel.After(time.Hour)) })
		add("joins", "blocked join", func() { must(t, all[0].Join()) })
		add("suspended", "suspended ", func() { must(t, marcel.Self().Suspend()) })
		add("away", "away ", func() { marcel.Blocking(func() { <-end }) })
		var group marcel.WaitGroup
		group.Add(1)
		add("waits for others", "blocked wait group", group.Wait)
		ticker := marcel.NewTicker(time.Hour)
		add("ticks", "blocked ticker", func() { ticker.Wait() })
		add("joins for a time", "blocked join", func() { _, err := all[0].JoinTimeout(time.Hour); must(t, err) })
		for range 4 {
			marcel.Yield()
		}
		add("seed", "seed ", func() {})
		me := marcel.Self()
		got := map[string]string{}
		lines := map[string]uintptr{}
		check := func() {
			clear(got)
			for _, i := range marcel.Threads() {
				lines[i.Name] = i.On
				got[i.Name] = fmt.Sprint(i.State, " ", i.In)
				if i.Thread == me && (i.State != marcel.StateRunning && i.In != sched.InJoin || marcel.OneVP(i.VP) != on) {
					t.Errorf("the caller: %+v", i)
				}
				if i.Thread.Name() != i.Name || i.Thread.Ended() {
					t.Errorf("%+v has ended, or has another name", i)
				}
			}
			for name, state := range want {
				if got[name] != state {
					t.Errorf("%s is %q, want %q", name, got[name], state)
				}
			}
		}
		check()
		if sem, join := lines["acquires"], lines["joins"]; sem == 0 || lines["with a limit"] != sem || lines["locks"] == sem ||
			join == 0 || lines["joins for a time"] != join || lines["sleeps"] != 0 || lines["selects"] != 0 || lines["seed"] != 0 {
			t.Errorf("they stand in line at %#x", lines)
		}
		var text bytes.Buffer
		must(t, marcel.WriteThreads(&text))
		if lines := strings.Count(text.String(), "\n"); lines != len(want)+2 || !strings.Contains(text.String(), "with a limit") {
			t.Errorf("%d lines, want %d:\n%s", lines, len(want)+2, &text)
		}
		must(t, marcel.SpawnWith(marcel.Attr{Name: "called", VPs: on}, func() {
			want["called"] = "running "
			want["seed"] = "seed "
			check()
		}).Join())
		stop.Store(true)
		m.Unlock()
		cond.Signal()
		group.Done()
		ticker.Stop()
		close(end)
		must(t, all[7].Resume())
		for range 3 {
			sem.Release()
		}
		for _, x := range all {
			must(t, x.Join())
		}
		if n := len(marcel.Threads()); n != 1 {
			t.Errorf("%d threads are left", n)
		}
	})
}

// What may run on disabled VPs only is told apart from what waits for its turn.
func TestThreadsBarred(t *testing.T) {
	run(t, sched.Config{VPs: 2, Slice: time.Hour}, func(s *sched.Scheduler) {
		must(t, marcel.Self().SetVPs(marcel.OneVP(0)))
		on := marcel.Attr{VPs: marcel.OneVP(1)}
		var permit marcel.Semaphore
		old := marcel.SpawnWith(on, permit.Acquire)
		for !has(s.Threads(), old, marcel.StateBlocked) {
			marcel.Yield()
		}
		must(t, s.DisableVP(1))
		seed := marcel.SpawnWith(on, func() {})
		permit.Release()
		for !has(s.Threads(), old, marcel.StateBarred) || !has(s.Threads(), seed, marcel.StateBarred) {
			marcel.Yield()
		}
		must(t, s.EnableVP(1))
		must(t, old.Join())
		must(t, seed.Join())
	})
}

// A list made while threads begin, wait, move and end is of threads that lived: no
// number twice, and those that live all the time are in it.
func TestThreadsMeanwhile(t *testing.T) {
	run(t, brisk(3), func(s *sched.Scheduler) {
		var stop atomic.Bool
		var never marcel.Semaphore
		var stay, all []marcel.Thread
		for range 20 {
			stay = append(stay, marcel.Spawn(never.Acquire))
		}
		for range 10 {
			all = append(all, marcel.Spawn(func() {
				for !stop.Load() {
					x := marcel.Spawn(marcel.Yield)
					y := marcel.Spawn(marcel.Yield)
					must(t, x.Join())
					must(t, y.Join())
				}
			}))
		}
		for i := range stay {
			for {
				marcel.Yield()
				if ts := s.Threads(); has(ts, stay[i], marcel.StateBlocked) {
					break
				}
			}
		}
		for range effort.Of(300) {
			seen := map[uint64]bool{}
			for _, i := range s.Threads() {
				if seen[i.Thread.ID()] {
					t.Fatalf("thread %d is there twice", i.Thread.ID())
				}
				seen[i.Thread.ID()] = true
			}
			for _, x := range stay {
				if !seen[x.ID()] {
					t.Fatalf("%v is missing", x)
				}
			}
			marcel.Yield()
		}
		stop.Store(true)
		for range stay {
			never.Release()
		}
		for _, x := range append(all, stay...) {
			must(t, x.Join())
		}
	})
}

func has(all []marcel.ThreadInfo, x marcel.Thread, state marcel.ThreadState) bool {
	for _, i := range all {
		if i.Thread == x {
			return i.State == state
		}
	}
	return false
}
