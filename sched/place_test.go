package sched_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// here is the VP of the calling thread; it waits for one that was taken away.
func here(s *sched.Scheduler) int {
	for {
		if vp := s.CurrentVP(); vp >= 0 {
			return vp
		}
		marcel.Yield()
	}
}

func setOf(vps ...int) (s marcel.VPSet) {
	for _, i := range vps {
		s.Set(i)
	}
	return s
}

// TestSetVPs: a thread is where its set says, whatever it did when the set was
// changed.
func TestSetVPs(t *testing.T) {
	s := start(t, sched.Config{VPs: 3})
	on := func(what string, test func(t *testing.T)) {
		t.Run(what, func(t *testing.T) { marcel.RunOn(s, func() { test(t) }) })
	}
	on("on itself", func(t *testing.T) {
		x := marcel.Spawn(func() {
			for i := range 30 {
				if err := marcel.Self().SetVPs(marcel.OneVP(i % 3)); err != nil {
					t.Error(err)
				}
				if vp := here(s); vp != i%3 {
					t.Errorf("on VP %d after SetVPs(%d)", vp, i%3)
				}
			}
		})
		if err := x.Join(); err != nil {
			t.Error(err)
		}
	})
	on("blocked", func(t *testing.T) {
		var sem marcel.Semaphore
		var at atomic.Int32
		x := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			for range 3 {
				sem.Acquire()
				at.Store(int32(here(s)))
			}
		})
		for i, vp := range []int{2, 1, 0} {
			blocked := func(y marcel.ThreadInfo) bool { return y.Thread == x && y.State == marcel.StateBlocked }
			for at.Load() != int32([]int{0, 2, 1}[i]) || !slices.ContainsFunc(s.Threads(), blocked) {
				marcel.Yield()
			}
			if err := x.SetVPs(marcel.OneVP(vp)); err != nil {
				t.Error(err)
			}
			sem.Release()
		}
		if err := x.Join(); err != nil || at.Load() != 0 {
			t.Error(err, at.Load())
		}
		if err := x.SetVPs(marcel.OneVP(1)); !errors.Is(err, marcel.ErrNoThread) {
			t.Errorf("of an ended thread: %v", err)
		}
	})
	on("ready behind a CPU-bound thread", func(t *testing.T) {
		if err := marcel.Self().SetVPs(marcel.OneVP(1)); err != nil {
			t.Fatal(err)
		}
		var computing, end, ran atomic.Bool
		cpuBound := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			computing.Store(true)
			for !end.Load() {
			}
		})
		for !computing.Load() {
			marcel.Yield()
		}
		var set atomic.Bool
		x := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			for !set.Load() { // else it began before that: the CPU-bound thread has had its slice
				marcel.Yield()
			}
			marcel.Yield()
			ran.Store(here(s) == 2)
		})
		if err := x.SetVPs(marcel.OneVP(2)); err != nil {
			t.Error(err)
		}
		set.Store(true)
		_ = x.Join()
		end.Store(true)
		_ = cpuBound.Join()
		if !ran.Load() {
			t.Error("it did not run on VP 2")
		}
	})
	on("running", func(t *testing.T) {
		var end atomic.Bool
		var at atomic.Int32
		x := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			for !end.Load() {
				marcel.Yield() // no other one is there
				at.Store(int32(s.CurrentVP()))
			}
		})
		for i := range 20 {
			if err := x.SetVPs(marcel.OneVP(i % 3)); err != nil {
				t.Error(err)
			}
			for at.Load() != int32(i%3) {
				marcel.Yield()
			}
		}
		end.Store(true)
		_ = x.Join()
	})
	on("in Blocking", func(t *testing.T) {
		var in marcel.Semaphore
		ch := make(chan int)
		vp := -1
		x := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			marcel.Blocking(func() { in.Release(); <-ch })
			vp = here(s)
		})
		in.Acquire()
		if err := x.SetVPs(marcel.OneVP(2)); err != nil {
			t.Error(err)
		}
		close(ch)
		if _ = x.Join(); vp != 2 {
			t.Errorf("on VP %d after Blocking", vp)
		}
	})
	on("says", func(t *testing.T) {
		me := marcel.Self()
		for _, set := range []marcel.VPSet{{}, marcel.OneVP(3)} {
			if err := me.SetVPs(set); !errors.Is(err, marcel.ErrNoVPs) {
				t.Errorf("SetVPs(%v): %v", set, err)
			}
		}
		if err := me.SetVPs(setOf(1, 2, 77)); err != nil || me.VPs() != setOf(1, 2) {
			t.Error(err, me.VPs())
		}
		if err := me.SetVPs(marcel.FullVPs()); err != nil || me.VPs() != setOf(0, 1, 2) {
			t.Error(err, me.VPs())
		}
		if err := (marcel.Thread{}).SetVPs(marcel.FullVPs()); !errors.Is(err, marcel.ErrNoThread) {
			t.Error(err)
		}
	})
}

// TestSetVPsStress: threads move themselves and each other while they do all
// that threads do, under collection and with short slices. After a change by
// itself a thread is where it wanted to be, unless another one has changed it again.
func TestSetVPsStress(t *testing.T) {
	dur := effort.Of(3 * time.Second)
	const vps = 3
	s := start(t, sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	end := time.Now().Add(dur)
	const n = 100
	var hs [n]marcel.Thread
	var changes, flying [n]atomic.Int64
	var wrong atomic.Int64
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			runtime.GC()
		}
	}()
	var ready marcel.Semaphore
	for i := range n {
		hs[i] = s.Spawn(marcel.Attr{}, func() {
			ready.Acquire()
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for time.Now().Before(end) {
				k := r.IntN(n)
				switch r.IntN(8) {
				case 0, 1:
					flying[k].Add(1)
					changes[k].Add(1)
					err := hs[k].SetVPs(marcel.OneVP(r.IntN(vps)))
					if flying[k].Add(-1); err == nil {
						marcel.Yield()
					}
				case 2:
					vp := r.IntN(vps)
					before := changes[i].Add(1)
					alone := flying[i].Load() == 0
					_ = marcel.Self().SetVPs(marcel.OneVP(vp))
					if at := here(s); alone && changes[i].Load() == before && at != vp {
						wrong.Add(1)
					}
				case 3:
					marcel.Sleep(time.Duration(r.IntN(100)) * time.Microsecond)
				case 4:
					marcel.Blocking(func() { nap(10 * time.Microsecond) })
				case 5:
					burn(time.Duration(r.IntN(100)) * time.Microsecond)
				case 6:
					flying[k].Add(1)
					changes[k].Add(1)
					_ = hs[k].SetVPs(marcel.FullVPs())
					flying[k].Add(-1)
				default:
					_ = marcel.Spawn(func() { marcel.Yield() }).Join()
				}
			}
		})
	}
	for range n {
		ready.Release()
	}
	for _, h := range hs {
		if err := h.Join(); err != nil {
			t.Error(err)
		}
	}
	if wrong.Load() != 0 {
		t.Errorf("%d times on another VP than SetVPs said", wrong.Load())
	}
}

// TestDisableVP: threads leave a disabled VP and come to none; those that may run
// nowhere else wait; the last one stays.
func TestDisableVP(t *testing.T) {
	const vps = 3
	s := start(t, sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	if err := s.DisableVP(vps); !errors.Is(err, sched.ErrNoVPs) {
		t.Error(err)
	}
	// Threads that run on all VPs, yielding, sleeping, spawning.
	var end atomic.Bool
	var seen [vps]atomic.Int64
	var hs []marcel.Thread
	for i := range 12 {
		hs = append(hs, s.Spawn(marcel.Attr{}, func() {
			for n := 0; !end.Load(); n++ {
				if vp := s.CurrentVP(); vp >= 0 {
					seen[vp].Add(1)
				}
				switch (i + n) % 4 {
				case 0:
					marcel.Sleep(20 * time.Microsecond)
				case 1:
					_ = marcel.Spawn(func() { marcel.Yield() }).Join()
				case 2:
					marcel.Blocking(func() { nap(10 * time.Microsecond) })
				default:
					marcel.Yield()
				}
			}
		}))
	}
	var only atomic.Int64
	bound := s.Spawn(marcel.Attr{VPs: marcel.OneVP(2)}, func() {
		for !end.Load() {
			only.Add(1)
			marcel.Yield()
		}
	})
	eventually(t, "all VPs are used", func() bool {
		return seen[0].Load() > 0 && seen[1].Load() > 0 && only.Load() > 0
	})
	for range 20 {
		if err := s.DisableVP(2); err != nil {
			t.Fatal(err)
		}
		eventually(t, "VP 2 is free", func() bool { return s.Stats().VPs[2].State == "free" })
		was, only0 := seen[2].Load(), only.Load()
		nap(5 * time.Millisecond)
		// One that the VP was taken from ends its step, whenever the kernel lets it.
		if n := seen[2].Load() - was + only.Load() - only0; n > int64(len(hs))+1 {
			t.Fatalf("%d steps were done on a disabled VP", n)
		}
		only0 = only.Load()
		if s.EnabledVPs() != setOf(0, 1) {
			t.Error(s.EnabledVPs())
		}
		if err := s.EnableVP(2); err != nil {
			t.Fatal(err)
		}
		eventually(t, "VP 2 is used again", func() bool { return only.Load() > only0 })
	}
	for _, vp := range []int{0, 1, 0} {
		if err := s.DisableVP(vp); err != nil {
			t.Error(err)
		}
	}
	if err := s.DisableVP(2); !errors.Is(err, sched.ErrLastVP) {
		t.Errorf("the last VP could be disabled: %v", err)
	}
	x := s.Spawn(marcel.Attr{VPs: setOf(0, 1)}, func() {}) // waits for either
	if err := s.EnableVP(1); err != nil {
		t.Error(err)
	}
	if err := x.Join(); err != nil {
		t.Error(err)
	}
	if err := s.DisableVP(0); err != nil { // 1 and 2 stay
		t.Error(err)
	}
	z := s.Spawn(marcel.Attr{VPs: setOf(0)}, func() {})
	if err := z.SetVPs(setOf(2)); err != nil { // it waits for VP 0, until its set changes
		t.Error(err)
	}
	if err := z.Join(); err != nil {
		t.Error(err)
	}
	// A thread that disables the VP it is on is elsewhere.
	y := s.Spawn(marcel.Attr{}, func() {
		vp := here(s)
		if err := s.DisableVP(vp); err != nil {
			t.Error(err)
		} else if at := here(s); at == vp {
			t.Errorf("still on VP %d", at)
		}
	})
	if err := y.Join(); err != nil {
		t.Error(err)
	}
	end.Store(true)
	if err := s.DisableVP(1); err != nil && !errors.Is(err, sched.ErrLastVP) {
		t.Error(err)
	}
	stop(t, s) // bound may wait: Stop enables its VP
	joinAll(t, append(hs, bound))
}

// TestDisableVPOfCPUBound: a VP whose thread computes on is free after a slice.
func TestDisableVPOfCPUBound(t *testing.T) {
	s := start(t, sched.Config{VPs: 2, Slice: time.Millisecond, Period: 250 * time.Microsecond})
	var in, end atomic.Bool
	x := s.Spawn(marcel.Attr{VPs: marcel.OneVP(1)}, func() {
		in.Store(true)
		for !end.Load() {
		}
		if err := marcel.Self().SetVPs(marcel.OneVP(0)); err != nil {
			t.Error(err)
		}
		if vp := here(s); vp != 0 {
			t.Errorf("on VP %d", vp)
		}
	})
	eventually(t, "it computes", in.Load)
	if err := s.DisableVP(1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its VP is free", func() bool { return s.Stats().VPs[1].State == "free" })
	end.Store(true)
	if !x.Ended() {
		_ = s.EnableVP(1)
	}
	if err := x.Join(); err != nil {
		t.Error(err)
	}
}

// TestDisableVPStress: VPs come and go under everything else; all threads end.
func TestDisableVPStress(t *testing.T) {
	dur := effort.Of(3 * time.Second)
	const vps = 4
	s := start(t, sched.Config{VPs: vps, Slice: time.Millisecond, Period: 250 * time.Microsecond, SpareTime: time.Millisecond})
	end := time.Now().Add(dur)
	var hs []marcel.Thread
	for i := range 40 {
		hs = append(hs, s.Spawn(marcel.Attr{}, func() {
			r := rand.New(rand.NewPCG(uint64(i), 2))
			for time.Now().Before(end) {
				switch vp := r.IntN(vps); r.IntN(9) {
				case 0:
					_ = s.DisableVP(vp)
				case 1, 2:
					_ = s.EnableVP(vp)
				case 3:
					_ = marcel.Self().SetVPs(marcel.OneVP(vp))
				case 4:
					_ = marcel.Self().SetVPs(marcel.FullVPs())
				case 5:
					marcel.Blocking(func() { nap(10 * time.Microsecond) })
				case 6:
					burn(time.Duration(r.IntN(100)) * time.Microsecond)
				case 7:
					marcel.Sleep(time.Duration(r.IntN(100)) * time.Microsecond)
				default:
					marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(vp)}, func() { marcel.Yield() })
				}
				if i == 0 {
					runtime.GC()
				}
			}
		}))
	}
	for time.Now().Before(end) { // those that disable may all wait
		for vp := range vps {
			_ = s.EnableVP(vp)
		}
		nap(time.Millisecond)
	}
	for vp := range vps {
		_ = s.EnableVP(vp)
	}
	stop(t, s)
	joinAll(t, hs)
}
