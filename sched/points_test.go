package sched_test

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

var calls = sched.Calls(ours.Module{})

func register(t testing.TB, s *sched.Scheduler, p hooks.Point, f hooks.Func) *hooks.Hook {
	t.Helper()
	h, err := s.Hooks().Register(p, 0, "test", f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Each Yield of a thread fires, whether another thread is ready or not, in the name of
// its VP, which it still has.
func TestYieldFires(t *testing.T) {
	s := start(t, sched.Config{VPs: 2, Slice: time.Hour})
	fired, wrong := 0, 0
	register(t, s, hooks.Yield, func(vp int) hooks.Verdict {
		fired++
		if vp != 1 || s.CurrentVP() != 1 || !sched.OnThread() {
			wrong++
		}
		return hooks.Quiet
	})
	on := marcel.Attr{VPs: sched.OneVP(1)}
	x := s.Spawn(on, func() {
		for range 10 {
			sched.Yield() // alone
		}
		y := s.Spawn(on, func() {
			for range 10 {
				sched.Yield()
			}
		})
		for range 10 {
			sched.Yield()
		}
		_ = y.Join()
	})
	if err := x.Join(); err != nil {
		t.Fatal(err)
	}
	if fired != 30 || wrong != 0 {
		t.Errorf("%d firings for 30 yields, %d of them wrong", fired, wrong)
	}
	runtime.Gosched()
	sched.Yield() // a goroutine's is no one's
	if fired != 30 {
		t.Error("a plain goroutine fires")
	}
}

// What a Yield hook makes ready is what the Yield then switches to.
func TestYieldHookComesBeforeTheSwitch(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, Slice: time.Hour})
	ran := false
	h := register(t, s, hooks.Yield, func(int) hooks.Verdict {
		sched.Spawn(func() { ran = true })
		return hooks.Quiet
	})
	x := s.Spawn(marcel.Attr{}, func() {
		sched.Yield()
		h.Unregister()
		if !ran {
			t.Error("the thread that the hook made has not run")
		}
	})
	if err := x.Join(); err != nil {
		t.Fatal(err)
	}
}

// Every call that may block fires once at its beginning, also if it need not wait.
func TestLibraryFiresAtEntry(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, Slice: time.Hour})
	fired := 0
	register(t, s, hooks.Library, func(vp int) hooks.Verdict {
		if vp != 0 || s.CurrentVP() != 0 {
			t.Errorf("fired for VP %d, on VP %d", vp, s.CurrentVP())
		}
		fired++
		return hooks.Quiet
	})
	sem := marcel.NewSemaphore(1)
	box := marcel.NewMailbox[int](1)
	var m marcel.Mutex
	x := s.Spawn(marcel.Attr{}, func() {
		for _, c := range []struct {
			name string
			call func()
			want int
		}{
			{"Acquire", sem.Acquire, 1},
			{"AcquireTimeout", func() { sem.AcquireTimeout(time.Microsecond) }, 1},
			{"Release", sem.Release, 0},
			{"Send", func() { _ = box.Send(1) }, 1},
			{"Recv", func() { _, _ = box.Recv() }, 1},
			{"TryRecv", func() { _, _ = box.TryRecv() }, 0},
			{"Lock of one that is free", m.Lock, 0},
			{"LockTimeout", func() { m.LockTimeout(time.Microsecond) }, 1},
			{"Unlock", m.Unlock, 0},
			{"Join", func() { _ = sched.Spawn(func() {}).Join() }, 1},
			{"Sleep", func() { marcel.Sleep(time.Microsecond) }, 1},
			{"Blocking", func() { sched.Blocking(func() {}) }, 1},
			{"Select", func() { marcel.SelectTimeout(time.Microsecond) }, 1},
			{"Library", calls.Library, 1},
			{"Spawn", func() { sched.Spawn(func() {}) }, 0},
			{"Yield", sched.Yield, 0},
		} {
			fired = 0
			c.call()
			if fired != c.want {
				t.Errorf("%s fired %d times, want %d", c.name, fired, c.want)
			}
		}
	})
	if err := x.Join(); err != nil {
		t.Fatal(err)
	}
	fired = 0
	calls.Library()
	box2 := marcel.NewMailbox[int](1)
	_ = box2.Send(1)
	if fired != 0 {
		t.Error("a plain goroutine fires")
	}
}

// A thread may lose its VP in the middle of a hook: it comes back as from anywhere
// else in user code.
func TestHookThatLosesItsVP(t *testing.T) {
	for _, p := range []hooks.Point{hooks.Yield, hooks.Library, hooks.Switch} {
		s := start(t, sched.Config{VPs: 1, Slice: time.Millisecond, Period: 250 * time.Microsecond})
		var other atomic.Bool
		var slow atomic.Bool
		register(t, s, p, func(int) hooks.Verdict {
			if slow.Swap(false) {
				for !other.Load() { // it runs when our VP has been seized
				}
			}
			return hooks.Quiet
		})
		x := s.Spawn(marcel.Attr{}, func() {
			set := func() { other.Store(true) }
			y, z := sched.Spawn(set), sched.Spawn(set) // two: a switch to the first one may be the slow one
			slow.Store(true)
			sched.Yield()
			_, _ = y.Join(), z.Join()
			if s.CurrentVP() != 0 {
				t.Errorf("%v: no VP", p)
			}
		})
		if err := x.Join(); err != nil {
			t.Fatal(err)
		}
		if !other.Load() {
			t.Errorf("%v: the other thread has not run", p)
		}
	}
}

// Hooks come and go at every point while threads of two VPs yield, wait and sleep: the
// race detector sees whether each call sees what happened before its Register.
func TestHooksComeAndGo(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	s := start(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	var stop atomic.Bool
	var threads []marcel.Thread
	sem := marcel.NewSemaphore(1)
	for i := range 6 {
		threads = append(threads, s.Spawn(marcel.Attr{}, func() {
			for n := 0; !stop.Load(); n++ {
				switch (n + i) % 4 {
				case 0, 1:
					sched.Yield()
				case 2:
					sem.Acquire()
					sem.Release()
				case 3:
					if n%512 == 3 {
						marcel.Sleep(50 * time.Microsecond)
					}
				}
			}
		}))
	}
	type mark struct{ seen atomic.Int64 }
	states := hooks.NewPerVP[mark](s.NumVP())
	var calls [hooks.NumPoints]atomic.Int64
	uncalled := func() bool { // on a busy machine the threads may come late
		return calls[hooks.Switch].Load() == 0 || calls[hooks.Yield].Load() == 0 || calls[hooks.Library].Load() == 0
	}
	for n, begin := 0, time.Now(); n < rounds || uncalled() && time.Since(begin) < time.Minute; n++ {
		p := hooks.Point(n % int(hooks.NumPoints))
		fresh := n // plain: written before Register, read in the hook
		h := register(t, s, p, states.Hook(func(vp int, m *mark) hooks.Verdict {
			m.seen.Store(int64(fresh))
			calls[p].Add(1)
			return hooks.Quiet
		}))
		switch {
		case n >= rounds:
			time.Sleep(100 * time.Microsecond)
		case n%8 == 0:
			for range 200 {
				runtime.Gosched()
			}
		}
		h.Unregister()
	}
	stop.Store(true)
	for _, x := range threads {
		_ = x.Join()
	}
	for _, p := range []hooks.Point{hooks.Switch, hooks.Yield, hooks.Library} {
		if calls[p].Load() == 0 {
			t.Errorf("no hook at %v was ever called", p)
		}
		if names := s.Hooks().Registered(p); len(names) != 0 {
			t.Errorf("%v: left %v", p, names)
		}
	}
}

// What hooks cost a yield that has another thread to switch to: the three of a
// progress engine with nothing pending; the same at all points; plain ones that say
// Quiet. They come and go every few microseconds, and the medians of the times with
// and without them are compared: so the machine's moods cancel out.
func BenchmarkYieldHooks(b *testing.B) {
	const batch = 500
	var pending atomic.Uint64
	quiet := func(int) hooks.Verdict { return hooks.Quiet }
	three := []hooks.Point{hooks.Idle, hooks.Switch, hooks.Timer}
	for _, c := range []struct {
		name   string
		points []hooks.Point
		need   *atomic.Uint64
	}{
		{"three/nothing-pending", three, &pending},
		{"all/nothing-pending", append(slices.Clip(three), hooks.Yield, hooks.Library), &pending},
		{"three/called", three, nil},
		{"all/called", append(slices.Clip(three), hooks.Yield, hooks.Library), nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := sched.New(sched.Config{VPs: 1})
			if err != nil {
				b.Fatal(err)
			}
			var times [2][]float64
			marcel.RunOn(s, func() {
				stop := false
				o := marcel.Spawn(func() {
					for !stop {
						marcel.Yield()
					}
				})
				var on []*hooks.Hook
				for n := 0; n < b.N || len(times[1]) == 0; n += batch {
					with := n / batch % 2
					for _, p := range c.points[:len(c.points)*with] {
						h, err := s.Hooks().RegisterWhile(p, 0, "bench", c.need, 1, quiet)
						if err != nil {
							b.Error(err)
							return
						}
						on = append(on, h)
					}
					marcel.Yield()
					begin := asm.Cycles()
					for range batch / 2 { // and as many of the other one
						marcel.Yield()
					}
					times[with] = append(times[with], float64(asm.Nanos(asm.Cycles()-begin))/batch)
					for _, h := range on {
						h.Unregister()
					}
					on = on[:0]
				}
				stop = true
				_ = o.Join()
			})
			if err := s.Stop(context.Background()); err != nil {
				b.Fatal(err)
			}
			slices.Sort(times[0])
			slices.Sort(times[1])
			without, with := times[0][len(times[0])/2], times[1][len(times[1])/2]
			b.ReportMetric(without, "yield-ns/op")
			b.ReportMetric(with-without, "hooks-ns/op")
		})
	}
}
