package tasklet

import (
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/hooks"
)

// One event from beginning to end on one VP: schedule it, fire, run it. The
// hook set and its call are included, as is asking the scheduler where we are.
func BenchmarkScheduleAndRun(b *testing.B) {
	m, v := newManual(b, 1)
	m.vp = 0
	runs := 0
	tk := New(v, func() { runs++ })
	b.ReportAllocs()
	for b.Loop() {
		tk.Schedule()
		m.set.Fire(hooks.Switch, 0)
	}
	if runs == 0 {
		b.Fatal("it never ran")
	}
}

// The same in batches, as after a burst of events: per tasklet.
func BenchmarkScheduleAndRun16(b *testing.B) {
	const batch = 16
	m, v := newManual(b, 1)
	m.vp = 0
	var tks [batch]Tasklet
	for i := range tks {
		if err := tks[i].Init(v, func() {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		for i := range tks {
			tks[i].Schedule()
		}
		m.set.Fire(hooks.Idle, 0)
	}
}

func BenchmarkScheduleScheduled(b *testing.B) {
	_, v := newManual(b, 1)
	tk := New(v, func() {})
	tk.Schedule()
	for b.Loop() {
		tk.Schedule()
	}
}

func BenchmarkFireEmpty(b *testing.B) {
	m, v := newManual(b, 1)
	defer v.Detach()
	for b.Loop() {
		m.set.Fire(hooks.Idle, 0)
	}
}

// The peers: how a Go program hands a piece of work to another goroutine.
func BenchmarkPeerGoroutine(b *testing.B) {
	var runs atomic.Int64
	done := make(chan struct{})
	for b.Loop() {
		go func() { runs.Add(1); done <- struct{}{} }()
		<-done
	}
}

func BenchmarkPeerChannelOfFuncs(b *testing.B) {
	work, done := make(chan func()), make(chan struct{})
	go func() {
		for f := range work {
			f()
			done <- struct{}{}
		}
	}()
	runs := 0
	f := func() { runs++ }
	for b.Loop() {
		work <- f
		<-done
	}
	close(work)
}
