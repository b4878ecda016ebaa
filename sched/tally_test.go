package sched_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// work is what the list of threads says of h's. One that has not begun may be missing there.
func work(s *sched.Scheduler, h marcel.Thread) (w sched.ThreadWork) {
	for _, i := range s.Threads() {
		if i.Thread == h {
			w = i.Work
		}
	}
	return w
}

// TestThreadWork: switches and moves are exact, and times add up.
func TestThreadWork(t *testing.T) {
	s := start(t, sched.Config{VPs: 2, Slice: time.Hour})
	observe.CountThreads(s, true)
	marcel.RunOn(s, func() {
		me := marcel.Self()
		if err := me.SetVPs(marcel.OneVP(0)); err != nil {
			t.Fatal(err)
		}
		marcel.Yield()
		began := work(s, me)
		other := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
			for range 100 {
				marcel.Yield()
			}
		})
		for range 100 {
			marcel.Yield()
		}
		if err := other.Join(); err != nil {
			t.Error(err)
		}
		if w := work(s, me); w.Switches-began.Switches < 100 || w.Switches-began.Switches > 101 || w.Moves != began.Moves {
			t.Errorf("after 100 yields and a join: from %+v to %+v", began, w)
		}

		before := time.Now()
		w := work(s, me)
		burn(3 * time.Millisecond)
		marcel.Sleep(2 * time.Millisecond)
		x := work(s, me)
		took := time.Since(before)
		if run, off := x.Run-w.Run, x.Off-w.Off; run < 2900*time.Microsecond || off < 1900*time.Microsecond || run+off > took+took/20+time.Millisecond {
			t.Errorf("3 ms computed, 2 ms slept, in %v: with a VP %v, without one %v", took, run, off)
		}

		for i := range 10 {
			if err := me.SetVPs(marcel.OneVP((i + 1) % 2)); err != nil {
				t.Error(err)
			}
			marcel.Yield()
		}
		if y := work(s, me); y.Moves != x.Moves+10 {
			t.Errorf("moved 10 times: from %+v to %+v", x, y)
		}

		hold := make(chan int)
		blocks := marcel.Spawn(func() { marcel.Blocking(func() { <-hold }) })
		for work(s, blocks).Off == 0 { // it has to begin, and to leave its VP
			marcel.Sleep(100 * time.Microsecond)
		}
		b := work(s, blocks)
		marcel.Sleep(2 * time.Millisecond)
		if c := work(s, blocks); c.Off-b.Off < 1900*time.Microsecond || c.Run != b.Run || c.Switches != 1 {
			t.Errorf("2 ms in Blocking: from %+v to %+v", b, c)
		}
		close(hold)
		if err := blocks.Join(); err != nil {
			t.Error(err)
		}
	})
}

// TestCountThreadsSwitch: what is off says nothing, and what is switched on again begins anew;
// a trace beside it makes no difference.
func TestCountThreadsSwitch(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, Slice: time.Hour})
	marcel.RunOn(s, func() {
		me := marcel.Self()
		var over atomic.Bool
		beside := marcel.Spawn(func() {
			for !over.Load() {
				marcel.Yield()
			}
		})
		// The fewest of several tries: one that waits for memory, or for the disk, loses its VP, and
		// is put on it once more.
		steps := func(n int) (fewest uint64) {
			fewest = 1 << 63
			for range 20 {
				marcel.Yield() // it has its VP, if it had lost it
				before := work(s, me).Switches
				for range n {
					marcel.Yield()
				}
				if fewest = min(fewest, work(s, me).Switches-before); fewest == uint64(n) {
					break
				}
			}
			return fewest
		}
		list := func() string {
			var b strings.Builder
			if err := observe.WriteThreads(&b, s.Threads()); err != nil {
				t.Error(err)
			}
			return b.String()
		}
		for range 5 {
			marcel.Yield()
		}
		if work(s, me) != (sched.ThreadWork{}) || strings.Contains(list(), "MOVES") {
			t.Errorf("counted, though it is off:\n%s", list())
		}
		for range 2 {
			observe.CountThreads(s, true)
			if steps(5) != 5 || work(s, me).Switches < 5 || !strings.Contains(list(), "MOVES") {
				t.Errorf("5 yields: %+v\n%s", work(s, me), list())
			}
			if err := observe.StartTrace(s, observe.TraceConfig{}); err != nil {
				t.Error(err)
			}
			if steps(5) != 5 || work(s, me).Switches < 10 {
				t.Errorf("5 more, traced: %+v", work(s, me))
			}
			if trace, err := observe.StopTrace(s); err != nil || len(trace.Rows[0].Events) < 10 {
				t.Errorf("the trace of 5 yields: %+v, %v", trace, err)
			}
			if steps(5) != 5 || work(s, me).Switches < 15 {
				t.Errorf("5 more, not traced: %+v", work(s, me))
			}
			if observe.CountThreads(s, false); work(s, me) != (sched.ThreadWork{}) {
				t.Error("counted after it was switched off")
			}
			marcel.Yield()
		}
		over.Store(true)
		if err := beside.Join(); err != nil {
			t.Error(err)
		}
	})
}
