package sched

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// yielders has n threads alive at once, and joins them. None ends before all have begun, even if the one that
// spawns them loses its VP.
func yielders(s *Scheduler, n int) {
	_ = s.Spawn(Attr{}, func() {
		var begun atomic.Int32
		hs := make([]Thread, n)
		for i := range hs {
			hs[i] = Spawn(func() {
				for begun.Add(1); begun.Load() < int32(n); {
					Yield()
				}
			})
		}
		for _, h := range hs {
			_ = h.Join()
		}
	}).Join()
}

// period ends a period of v, in the place of the clock, and waits until what is to end has ended.
func (v *vp) period() {
	v.trimRunners()
	for over := false; !over; time.Sleep(50 * time.Microsecond) {
		if v.pool.trimDue.Load() != 0 {
			continue
		}
		old, ok := v.borrow() // the base is not in the middle of it
		if over = ok; ok {
			v.giveBack(old)
		}
	}
}

// TestSteadyLoadKeepsItsRunners: what a program needs once in a period is not surplus, however
// often the periods end. The clock does not come: the test says when they do.
func TestSteadyLoadKeepsItsRunners(t *testing.T) {
	const crowd = 1000
	s, err := New(Config{VPs: 1, SpareTime: time.Hour, SpareRunners: 1, Slice: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }()
	v := s.vps[0]
	for range 20 {
		yielders(s, crowd)
		v.period()
	}
	if st := s.Stats().Total; st.LetGo > 0 || st.Runners < crowd {
		t.Errorf("%d runners of a steady load have been let go, %d are left", st.LetGo, st.Runners)
	}
	for n := s.Stats().Total.Runners; n > smallSurplus; { // and now without the load
		v.period()
		now := s.Stats().Total.Runners
		if now >= n || n-now > (n+1)/2+smallSurplus {
			t.Fatalf("a period in which none of %d runners was needed has left %d", n, now)
		}
		n = now
	}
}

// BenchmarkRunnersEnd is how long the end of an idle runner takes its VP.
func BenchmarkRunnersEnd(b *testing.B) {
	const crowd = 100_000
	s, err := New(Config{VPs: 1, SpareTime: time.Hour, SpareRunners: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }()
	for b.Loop() {
		b.StopTimer()
		yielders(s, crowd)
		s.vps[0].period() // which had the crowd in it
		before := s.Stats().Total.LetGo
		b.StartTimer()
		began := time.Now()
		s.vps[0].period()
		d := time.Since(began)
		if n := s.Stats().Total.LetGo - before; n > 0 {
			b.ReportMetric(float64(d.Nanoseconds())/float64(n), "ns/runner")
			b.ReportMetric(float64(n), "runners")
		}
	}
}

// TestTrim: the low-water mark, what follows from it, and which end: those that came first.
func TestTrim(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	setUp.Do(chooseMode)
	v := &vp{sched: &Scheduler{}}
	v.outsideLWP.vp = v
	base := &co{l: &lwp{vp: v}, base: true}
	p := &v.pool
	few := runtime.NumGoroutine()
	var all []*co
	for range 2000 {
		all = append(all, base.newRunner())
		p.put(all[len(all)-1])
	}
	hold := func(n int) { // that many are in use at once
		var out []*co
		for range n {
			out = append(out, p.take())
		}
		slices.Reverse(out)
		for _, c := range out {
			p.put(c)
		}
	}
	for i, step := range []struct {
		used      int // at once, since the step before
		spare     int
		ends      int
		low, left int
	}{
		{0, 100, 0, 0, 2000}, // the first period begins: nothing is known
		{300, 100, 800, 1700, 1200},
		{1000, 100, 100, 200, 1100},
		{1050, 100, 0, 50, 1100}, // fewer are unused than are to be kept
		{700, 0, 256, 400, 844},  // a small surplus ends, but no more than that at once
		{0, 800, 44, 844, 800},   // all of it
		{0, 800, 0, 800, 800},    // just what is to be kept
		{800, 0, 0, 0, 800},      // all were needed
		{0, 0, 400, 800, 400},    // half
		{0, 0, 256, 400, 144},    // more than half
		{0, 0, 144, 144, 0},      // the rest
		{0, 0, 0, 0, 0},          // nothing is there
	} {
		hold(step.used)
		p.trimDue.Store(1)
		low := p.lowWater
		before := p.trimmed
		p.trim(step.spare)
		if n := int(p.trimmed - before); low != step.low || n != step.ends || len(p.idle) != step.left || p.lowWater != step.left || p.numRunners != step.left {
			t.Fatalf("step %d: low-water mark %d, %d ended, %d left, the new mark is %d, %d made; want %+v", i, low, n, len(p.idle), p.lowWater, p.numRunners, step)
		}
		if p.trimDue.Load() != 0 {
			t.Errorf("step %d: it is due still", i)
		}
		if quit := slices.IndexFunc(all, func(c *co) bool { return !c.ending }); quit != step.ends && step.left > 0 || !slices.Equal(all[step.ends:], p.idle) {
			t.Errorf("step %d: others end than those that came first", i)
		}
		all = all[step.ends:]
		if cap(p.idle) > 4*max(len(p.idle), 1024) {
			t.Errorf("step %d: the list of %d has room for %d", i, len(p.idle), cap(p.idle))
		}
	}
	awaited(t, "those that end have ended", func() bool { return runtime.NumGoroutine() <= few })
}
