package sched

import (
	"context"
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
		old, ok := v.word.borrow()
		if !ok {
			continue
		}
		over = !v.trims()
		v.word.giveBack(old)
		v.nudge(false)
	}
}

// TestSteadyLoadKeepsItsRunners: what a program needs once in a period is not surplus, however
// often the periods end. The clock does not come: the test says when they do.
func TestSteadyLoadKeepsItsRunners(t *testing.T) {
	const crowd = 1000
	s, err := New(Config{VPs: 1, SpareTime: time.Hour, SpareRunners: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.Background()) }()
	v := s.vps[0]
	for range 20 {
		yielders(s, crowd)
		v.period()
	}
	if st := s.Stats().Total; st.LetGo > runnersAhead || st.Runners < crowd { // some are made ahead, and never needed
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

// TestAssess: the low-water mark and what follows from it.
func TestAssess(t *testing.T) {
	cs := make([]co, 2000)
	var p pool
	var w trimming
	for i := range cs {
		p.put(&cs[i])
	}
	if w.assess(&p, 100); w.quota != 0 || p.least != 2000 {
		t.Errorf("before the first period quota is %d, least %d", w.quota, p.least)
	}
	for range 300 {
		p.take()
	}
	for i := range 300 {
		p.put(&cs[i])
	}
	if w.assess(&p, 100); w.quota != 800 || p.least != 2000 {
		t.Errorf("of 1700 unused, 100 spare: quota %d, least %d", w.quota, p.least)
	}
	for range 1800 {
		p.take()
	}
	if w.assess(&p, 100); w.quota != 100 {
		t.Errorf("of 200 unused, 100 spare: quota %d", w.quota)
	}
	x := p.idle[7]
	if p.takeAt(7) != x || int(p.idle[7].own.at) != 7 || len(p.idle) != 199 || p.least != 199 {
		t.Error("taken from the middle")
	}
	if last := p.idle[198]; p.takeAt(198) != last {
		t.Error("taken from the end")
	}
	if _, ok := p.find(x, 7); ok {
		t.Error("found what is not there")
	}
}
