package sched_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched"
)

// Many threads that are blocked at once have each a runner, and some have been made
// ahead. Stop ends them all, those that have never begun as well.
func TestStopEndsRunnersMadeAhead(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		t.Fatal(err)
	}
	const n = 300
	var (
		mu    sched.Spin
		q     sched.WaitQueue
		all   []sched.Thread
		there atomic.Int32
	)
	for range n {
		all = append(all, s.Spawn(sched.Attr{}, func() {
			there.Add(1)
			c := sched.Enter()
			mu.Lock()
			c.Wait(&q, &mu)
		}))
	}
	end := time.Now().Add(time.Minute)
	for there.Load() < n {
		if time.Now().After(end) {
			t.Fatalf("%d threads of %d have begun", there.Load(), n)
		}
		time.Sleep(time.Millisecond)
	}
	for woken := 0; woken < n; {
		mu.Lock()
		w, popped := q.PopN(-1)
		mu.Unlock()
		c := sched.Enter()
		c.WakeAll(w)
		c.Leave()
		if woken += popped; time.Now().After(end) {
			t.Fatalf("%d threads of %d have come to wait", woken, n)
		}
		runtime.Gosched()
	}
	for _, h := range all {
		if err := h.Join(); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, s)
	for runtime.NumGoroutine() > before {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after Stop", before, runtime.NumGoroutine())
		}
		time.Sleep(time.Millisecond)
	}
}
