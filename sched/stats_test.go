package sched_test

import (
	"testing"
	"time"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// eventually polls until ok, for at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// Two threads that yield to each other n times are put on the VP at least 2n times,
// and nothing else moves it by more than a few.
func TestStatsCountsSwitches(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	const n = 1000
	before := s.Stats()
	marcel.RunOn(s, func() {
		other := marcel.Spawn(func() {
			for range n {
				marcel.Yield()
			}
		})
		for range n {
			marcel.Yield()
		}
		other.Join()
	})
	eventually(t, "both have ended", func() bool { return s.Stats().Alive == 0 }) // just after their Join
	d := s.Stats().Since(before)
	// One that loses the VP, because the kernel runs others, yields to no thread until it is back.
	if got := d.Total.Switches; got < 2*n && d.Total.Seizures == 0 || got > 2*n+20 {
		t.Errorf("%d switches for %d yields, %d seizures", got, 2*n, d.Total.Seizures)
	}
	if d.Total.Spawned != 2 || d.Total.Ended != 2 || d.Alive != 0 {
		t.Errorf("spawned %d, ended %d, alive %d; 2 threads ran", d.Total.Spawned, d.Total.Ended, d.Alive)
	}
	if d.VPs[0].Switches != d.Total.Switches {
		t.Errorf("the only VP counts %d switches, the total %d", d.VPs[0].Switches, d.Total.Switches)
	}
}

// A thread that is started inline counts once, as does one that takes a runner.
func TestStatsCountsEachStartOnce(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	before := s.Stats()
	const n = 500
	marcel.RunOn(s, func() {
		threads := make([]marcel.Thread, n)
		for i := range threads {
			threads[i] = marcel.Spawn(func() {})
		}
		for _, h := range threads {
			h.Join()
		}
	})
	// Each starts once; the first goes on after its joins: one of them waits.
	if got := s.Stats().Since(before).Total.Switches; got < n+1 || got > n+5 {
		t.Errorf("%d switches for %d threads that do nothing", got, n+1)
	}
}

// Idle time is the time in which there is nothing to run, and no other.
func TestStatsTimes(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	marcel.RunOn(s, func() {})
	eventually(t, "a VP without work sleeps", func() bool { return s.Stats().Total.Parks > 0 })
	var slept sched.Stats
	eventually(t, "a VP without work sleeps for most of the time", func() bool { // unless the kernel stops us in the midst of Stats
		idle := s.Stats()
		time.Sleep(30 * time.Millisecond)
		slept = s.Stats().Since(idle)
		return slept.Total.Sleep >= slept.Elapsed/2 && slept.Total.Sleep <= slept.Elapsed+time.Millisecond
	})
	var busy sched.Stats
	marcel.RunOn(s, func() {
		from := s.Stats()
		burn(20 * time.Millisecond)
		busy = s.Stats().Since(from)
	})
	if busy.Total.Idle() != 0 {
		t.Errorf("a VP whose thread computed was idle for %v", busy.Total.Idle())
	}
	if load := busy.Load(0); load != 1 {
		t.Errorf("its load was %v", load)
	}
	if load := slept.Load(0); load > 0.5 {
		t.Errorf("the load of the one that slept was %v", load)
	}
	if busy.Load(1) != 0 || busy.Load(-1) != 0 {
		t.Error("a VP that does not exist has a load")
	}
}

// While a thread is in Blocking and nothing else is to be done, its VP sleeps.
func TestStatsBlockingIsSleep(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	eventually(t, "the VP sleeps while its thread blocks", func() bool { // unless the clock, which marks it, is late
		var d sched.Stats
		marcel.RunOn(s, func() {
			from := s.Stats()
			marcel.Blocking(func() { time.Sleep(50 * time.Millisecond) })
			d = s.Stats().Since(from)
		})
		return d.Total.Sleep >= d.Elapsed/4 && d.Total.Sleep <= d.Elapsed
	})
}

// Idle hooks that take most of the time are seen to.
func TestStatsHooks(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	h, err := s.Hooks().Register(hooks.Idle, 0, "slow", func(int) hooks.Verdict {
		burn(100 * time.Microsecond)
		return hooks.Busy
	})
	if err != nil {
		t.Fatal(err)
	}
	marcel.RunOn(s, func() {}) // wakes it
	from := s.Stats()
	eventually(t, "rounds of hooks", func() bool { return s.Stats().Since(from).Total.Rounds > 200 })
	d := s.Stats().Since(from)
	h.Unregister()
	if least := time.Duration(d.Total.Rounds/2) * 100 * time.Microsecond; d.Total.Hook < least {
		t.Errorf("%v in hooks, which took 100 us each, %d times", d.Total.Hook, d.Total.Rounds)
	}
}

// Steals count on both sides.
func TestStatsSteals(t *testing.T) {
	s := start(t, sched.Config{VPs: 2, Unbound: true})
	marcel.RunOn(s, func() {
		eventually(t, "threads are stolen", func() bool {
			threads := make([]marcel.Thread, 50)
			for i := range threads {
				threads[i] = marcel.Spawn(func() { burn(50 * time.Microsecond) })
			}
			for _, h := range threads {
				h.Join()
			}
			return s.Stats().Total.Items > 0
		})
	})
	st := s.Stats()
	if st.Total.Items != st.Total.Lost {
		t.Errorf("%d threads stolen, %d lost", st.Total.Items, st.Total.Lost)
	}
	if st.Total.Steals == 0 || st.Total.Tries < st.Total.Steals || st.Total.Items < st.Total.Steals {
		t.Errorf("%d tries, %d steals, %d threads", st.Total.Tries, st.Total.Steals, st.Total.Items)
	}
}

// Wakes are sampled, and a latency is plausible.
func TestStatsWakes(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	const n = 64 * 40
	marcel.RunOn(s, func() {
		var there, back marcel.Semaphore
		other := marcel.Spawn(func() {
			for range n {
				there.Acquire()
				back.Release()
			}
		})
		for range n {
			there.Release()
			back.Acquire()
		}
		other.Join()
	})
	h := s.Stats().Total.Wakes
	// How many are sampled depends on which switches fall on which counts: some are, and
	// none twice. How long they took depends on the machine and its counter.
	const others = 8 // wakes: of one that joins, of one that waits for them
	if c := h.Count(); c == 0 || c > 2*n+others {
		t.Errorf("%d samples of %d wakes: %v", c, 2*n, h.String())
	}
	if h.Quantile(0.5) == 0 || h.Quantile(1) < h.Quantile(0.5) {
		t.Errorf("the largest is smaller than the median: %v", h.String())
	}
	// A goroutine's wake is always sampled: Join below waits on a goroutine, and
	// the semaphore's thread is woken by one.
	before := s.Stats()
	var sem marcel.Semaphore
	th := s.Spawn(marcel.Attr{}, sem.Acquire)
	eventually(t, "it waits", func() bool {
		all := s.Threads()
		return len(all) == 1 && all[0].State == sched.StateBlocked
	})
	sem.Release()
	th.Join()
	if d := s.Stats().Since(before); d.Total.Wakes.Count() == 0 {
		t.Error("the wake by a goroutine was not sampled")
	}
}

func TestHistogram(t *testing.T) {
	var h sched.Histogram
	if h.Quantile(0.5) != 0 || h.Count() != 0 || h.String() != "" {
		t.Error("an empty one is not empty")
	}
	h[7], h[10] = 90, 10 // below 128 and below 1024 ns
	for q, want := range map[float64]time.Duration{0.01: 128, 0.9: 128, 0.91: 1024, 1: 1024} {
		if got := h.Quantile(q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := h.String(); got != "<128ns 90, <1.024µs 10" {
		t.Error(got)
	}
}
