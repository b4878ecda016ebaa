package sched_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// multitude has n threads of s blocked at once, and joins those for which stay is false; the others are left.
func multitude(t testing.TB, s *sched.Scheduler, n int, stay func(i int) bool, body func(i int)) (left []marcel.Thread, permit *marcel.Semaphore) {
	t.Helper()
	permit = new(marcel.Semaphore)
	marcel.RunOn(s, func() {
		var in marcel.Semaphore
		var out marcel.Semaphore
		var hs []marcel.Thread
		for i := range n {
			my := &out
			if stay(i) {
				my = permit
			}
			h := marcel.Spawn(func() {
				in.Release()
				my.Acquire()
				body(i)
			})
			if stay(i) {
				left = append(left, h)
			} else {
				hs = append(hs, h)
			}
		}
		for range n {
			in.Acquire()
		}
		for range hs {
			out.Release()
		}
		for _, h := range hs {
			if err := h.Join(); err != nil {
				t.Error(err)
			}
		}
	})
	return left, permit
}

func never(int) bool { return false }

func nothing(int) {}

// vpHeld is the memory in use for stacks and small objects, after a collection.
func vpHeld() int64 {
	runtime.GC()
	runtime.GC() // the first one may have begun before stacks were free
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse + m.HeapInuse)
}

// TestMultitudeOfRunnersEnds: the runners of a crowd end when they are not needed any more,
// and their memory is given back.
func TestMultitudeOfRunnersEnds(t *testing.T) {
	n := effort.Of(100_000)
	for _, vps := range []int{1, 2} {
		const spare = 32
		s := start(t, sched.Config{VPs: vps, SpareTime: 10 * time.Millisecond, SpareRunners: spare})
		few, before := runtime.NumGoroutine(), vpHeld()
		for range 2 {
			multitude(t, s, n, never, nothing)
			// Some of the last ones may have ended before this look.
			eventually(t, "all but a few runners have ended", func() bool {
				return runtime.NumGoroutine() <= few+2*vps*spare && s.Stats().Total.Runners <= 2*vps*spare+1
			})
			st := s.Stats()
			if st.Total.LetGo < uint64(n)/2 {
				t.Errorf("%d VPs: %d runners let go, %d idle", vps, st.Total.LetGo, st.Total.Runners)
			}
			const besides = 8 << 20 // tables and spans that stay, whatever n; the runners had 2.5 KiB each
			if grown := vpHeld() - before; grown > int64(n)*1024+besides {
				t.Errorf("%d VPs: %d bytes are left of %d threads", vps, grown, n)
			}
		}
		stop(t, s)
	}
}

// TestRunnersOfLiveSlots: a runner that a blocked thread is on does not end. Of a crowd a part stays blocked, on the
// runners of idle runners; a part has ended by Goexit; others come and go all the time on both VPs.
func TestRunnersOfLiveSlots(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 1000
	}
	s := start(t, sched.Config{VPs: 2, SpareTime: time.Millisecond, SpareRunners: 4})
	for _, part := range []int{10, 30, 200} {
		ended := s.Stats().Total.LetGo
		left, permit := multitude(t, s, n, func(i int) bool { return i/part%2 == 0 }, func(i int) {
			if i%5 == 0 {
				marcel.Exit()
			}
		})
		for round := 0; s.Stats().Total.LetGo < ended+uint64(n)/8; round++ {
			if round == 20000 {
				t.Fatalf("%d runners let go", s.Stats().Total.LetGo-ended)
			}
			multitude(t, s, 20, never, nothing)
			time.Sleep(100 * time.Microsecond)
		}
		for range left {
			permit.Release()
		}
		joinAll(t, left)
	}
}

// TestStopWhileRunnersEnd: a scheduler is stopped at any moment while runners end. On a machine that is slow the first
// rounds may stop it before any runner ends: then further rounds wait longer.
func TestStopWhileRunnersEnd(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	few := runtime.NumGoroutine()
	let := uint64(0)
	for i := 0; i < rounds || let == 0 && i < rounds+200; i++ {
		s, err := sched.New(sched.Config{VPs: 1 + i%2, Period: 100 * time.Microsecond, SpareTime: 200 * time.Microsecond, SpareRunners: 1})
		if err != nil {
			t.Fatal(err)
		}
		multitude(t, s, 3000, never, nothing)
		time.Sleep(time.Duration(i%20) * 150 * time.Microsecond)
		if i >= rounds {
			time.Sleep(time.Duration(i-rounds) * time.Millisecond)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		let += s.Stats().Total.LetGo
		if err := s.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	eventually(t, "all runners have ended", func() bool { return runtime.NumGoroutine() <= few+8 })
	if let == 0 {
		t.Error("no runner had ended before any Stop")
	}
}

// TestAllRunnersKept: below 0 the number of those kept has no limit.
func TestAllRunnersKept(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, Period: 100 * time.Microsecond, SpareTime: time.Millisecond, SpareRunners: -1, Slice: time.Hour})
	multitude(t, s, 2000, never, nothing)
	time.Sleep(20 * time.Millisecond)
	if st := s.Stats().Total; st.LetGo != 0 || st.Runners < 2000 {
		t.Errorf("%d let go, %d kept", st.LetGo, st.Runners)
	}
}
