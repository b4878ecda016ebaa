package timeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

func start(t testing.TB, cfg sched.Config) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func burn(d time.Duration) {
	for t0 := time.Now(); time.Since(t0) < d; {
	}
}

// record traces what f does as a thread of s, and returns the timeline as another
// program would read it, having checked it.
func record(t *testing.T, s *sched.Scheduler, cfg observe.TraceConfig, f func()) *timeline.Timeline {
	t.Helper()
	if err := observe.StartTrace(s, cfg); err != nil {
		t.Fatal(err)
	}
	marcel.RunOn(s, f)
	trace, err := observe.StopTrace(s)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := timeline.Of(trace).Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := timeline.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Check(); err != nil {
		t.Error(err)
	}
	if len(read.Events) == 0 || read.About.Clock == "" {
		t.Error("an empty timeline")
	}
	return read
}

// named returns the events with that name and phase.
func named(t *timeline.Timeline, phase, name string) (found []timeline.Event) {
	for _, e := range t.Events {
		if e.Phase == phase && e.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// Two named threads that take turns show as slices that do not overlap, of the
// length that they took, with an arrow for each wake.
func TestTurnsAreSlices(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, Slice: time.Hour})
	const rounds = 5
	tl := record(t, s, observe.TraceConfig{}, func() {
		var ping, pong marcel.Semaphore
		a := marcel.SpawnWith(marcel.Attr{Name: "ping"}, func() {
			for range rounds {
				burn(50 * time.Microsecond)
				pong.Release()
				ping.Acquire()
			}
		})
		b := marcel.SpawnWith(marcel.Attr{Name: "pong"}, func() {
			for range rounds {
				pong.Acquire()
				burn(100 * time.Microsecond)
				ping.Release()
			}
		})
		a.Join()
		b.Join()
	})
	for name, least := range map[string]time.Duration{"ping": rounds * 50 * time.Microsecond, "pong": rounds * 100 * time.Microsecond} {
		var sum time.Duration
		for _, e := range named(tl, "X", name) {
			sum += time.Duration(e.Dur)
		}
		if sum < least {
			t.Errorf("%s computed for %v, its slices last %v", name, least, sum)
		}
	}
	if n := len(named(tl, "X", "ping")); n < rounds {
		t.Errorf("%d slices of ping for %d turns", n, rounds)
	}
	if n, m := len(named(tl, "s", "wake")), len(named(tl, "f", "wake")); n < 2*rounds-1 || n != m {
		t.Errorf("%d arrows leave wakes, %d arrive; %d wakes", n, m, 2*rounds)
	}
	if n := len(named(tl, "f", "spawn")); n < 2 {
		t.Errorf("%d arrows for 2 spawns", n)
	}
	if len(named(tl, "M", "thread_name")) != 2 { // the VP, and those without
		t.Errorf("rows: %v", named(tl, "M", "thread_name"))
	}
}

// While a thread is in Blocking others run on its VP; it shows beside them.
func TestBlockingIsAsynchronous(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	tl := record(t, s, observe.TraceConfig{}, func() {
		a := marcel.SpawnWith(marcel.Attr{Name: "reader"}, func() {
			marcel.Blocking(func() { time.Sleep(100 * time.Millisecond) })
		})
		a.Join()
	})
	begin, end := named(tl, "b", "Blocking: reader"), named(tl, "e", "Blocking: reader")
	if len(begin) != 1 || len(end) != 1 {
		t.Fatalf("%d begin, %d end; Blocking was called once", len(begin), len(end))
	}
	if d := time.Duration(end[0].TS - begin[0].TS); d < 100*time.Millisecond {
		t.Errorf("it slept 100 ms, and shows as %v", d)
	}
	// Nothing else was to be done: the VP lay free, or a spare came by and fell asleep.
	if len(named(tl, "X", "free"))+len(named(tl, "X", "asleep")) == 0 {
		t.Error("the VP shows no rest while its only thread was in Blocking")
	}
}

// A thread that computes past its slice is stopped, and goes on later: that shows as two slices.
func TestSeizure(t *testing.T) {
	s := start(t, sched.Config{VPs: 1, Slice: 2 * time.Millisecond})
	tl := record(t, s, observe.TraceConfig{}, func() {
		var done atomic.Bool
		busy := marcel.SpawnWith(marcel.Attr{Name: "busy"}, func() {
			defer done.Store(true)
			for n := s.Stats().Total.Seizures; s.Stats().Total.Seizures == n; {
				burn(time.Millisecond)
			}
			burn(time.Millisecond)
		})
		// The other one is ready until the busy one has ended: that may be stopped before it has read the counter, too.
		other := marcel.SpawnWith(marcel.Attr{Name: "other"}, func() {
			for !done.Load() {
				marcel.Yield()
			}
		})
		busy.Join()
		other.Join()
	})
	if n := len(named(tl, "X", "busy")); n < 2 {
		t.Errorf("the busy shows in %d slices: %v", n, names(tl))
	}
}

func names(tl *timeline.Timeline) []string {
	all := map[string]bool{}
	for _, e := range tl.Events {
		all[e.Phase+" "+e.Name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// A ring that is too small keeps the newest events and says how many it lost.
func TestRingOverwritesTheOldest(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	tl := record(t, s, observe.TraceConfig{Events: 64}, func() {
		marcel.SpawnWith(marcel.Attr{Name: "first"}, func() {}).Join()
		for range 200 {
			marcel.Spawn(func() {}).Join()
		}
		marcel.SpawnWith(marcel.Attr{Name: "last"}, func() {}).Join()
	})
	if tl.About.Lost < 200 {
		t.Errorf("%d events lost", tl.About.Lost)
	}
	if len(named(tl, "X", "last")) != 1 || len(named(tl, "X", "first")) != 0 {
		t.Errorf("of the first and the last thread it has %d and %d", len(named(tl, "X", "first")), len(named(tl, "X", "last")))
	}
	if rows := fmt.Sprint(named(tl, "M", "thread_name")); !strings.Contains(rows, "older events lost") {
		t.Errorf("no row says so: %s", rows)
	}
}

// Hooks that take long, and slices of others inside of them.
func TestHooksAndTasks(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	h, err := s.Hooks().Register(hooks.Idle, 0, "poll", func(int) hooks.Verdict {
		if sched.Tracing() {
			began := cycles()
			burn(20 * time.Microsecond)
			sched.TraceSlice(sched.TraceTask, "poll the network", began)
		}
		return hooks.Waiting
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Unregister()
	tl := record(t, s, observe.TraceConfig{}, func() { marcel.Sleep(2 * time.Millisecond) })
	tasks, idle := named(tl, "X", "poll the network"), named(tl, "X", "idle hook")
	if len(tasks) == 0 || len(idle) == 0 {
		t.Fatalf("%d tasks, %d hooks", len(tasks), len(idle))
	}
}

// Everything at once, with hand-offs, steals and collections, and traces that begin
// and end in the middle of it.
func TestStress(t *testing.T) {
	s := start(t, sched.Config{VPs: 2, Unbound: true, Slice: time.Millisecond})
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	end := make(chan struct{})
	go func() {
		for {
			select {
			case <-end:
				return
			default:
				runtime.GC()
			}
		}
	}()
	work := s.Spawn(marcel.Attr{Name: "work"}, func() {
		var mu marcel.Mutex
		shared := 0
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			threads := make([]marcel.Thread, 20)
			for j := range threads {
				threads[j] = marcel.SpawnWith(marcel.Attr{Name: fmt.Sprint("worker ", j)}, func() {
					mu.Lock()
					shared++
					mu.Unlock()
					switch (i + j) % 10 {
					case 0:
						burn(3 * time.Millisecond)
					case 1:
						marcel.Blocking(func() { time.Sleep(100 * time.Microsecond) })
					default:
						marcel.Yield()
					}
				})
			}
			for _, h := range threads {
				h.Join()
			}
		}
	})
	for range rounds {
		if err := observe.StartTrace(s, observe.TraceConfig{Events: 1 << 10}); err != nil {
			t.Fatal(err)
		}
		if err := observe.StartTrace(s, observe.TraceConfig{}); !errors.Is(err, observe.ErrTracing) {
			t.Errorf("a second trace: %v", err)
		}
		before := s.Stats()
		for limit := time.Now().Add(time.Minute); s.Stats().Since(before).Total.Switches < 300; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatal("nothing goes on")
			}
		}
		trace, err := observe.StopTrace(s)
		if err != nil {
			t.Fatal(err)
		}
		tl := timeline.Of(trace)
		if err := tl.Check(); err != nil {
			t.Error(err)
		}
		if len(tl.Events) < 100 {
			t.Errorf("%d events of a busy scheduler", len(tl.Events))
		}
	}
	close(end)
	work.Join()
	if _, err := observe.StopTrace(s); !errors.Is(err, observe.ErrNotTracing) {
		t.Errorf("stop without a trace: %v", err)
	}
	for _, n := range []int{-1, 1<<24 + 1} {
		if err := observe.StartTrace(s, observe.TraceConfig{Events: n}); err == nil {
			t.Errorf("a ring of %d events was accepted", n)
		}
	}
}

// Two processes side by side: times come from one clock, messages keep their arrow.
func TestMerge(t *testing.T) {
	one := timeline.Of(&observe.Trace{PID: 1, Begin: 1000, End: 9000, Rows: []observe.TraceRow{
		{VP: 0, Events: []sched.Event{
			{At: 1000, Kind: sched.TraceRun, A: 1, Label: "sender"},
			{At: 2000, Kind: sched.TraceOut, Own: 0, Peer: 1, Seq: 5, A: 3, B: 8},
			{At: 3000, Kind: sched.TraceSend, Dur: 1500, Own: 0, Peer: 1, Seq: 5, A: 3, B: 8},
		}}, {VP: -1},
	}})
	two := timeline.Of(&observe.Trace{PID: 2, Begin: 1500, End: 8000, Rows: []observe.TraceRow{
		{VP: 0, Events: []sched.Event{
			{At: 1500, Kind: sched.TraceRun, A: 1, Label: "receiver"},
			{At: 2600, Kind: sched.TraceArrived, Own: 1, Peer: 0, Seq: 5, A: 3, B: 8},
		}}, {VP: -1},
	}})
	all, err := timeline.Merge(two, one)
	if err != nil {
		t.Fatal(err)
	}
	if err := all.Check(); err != nil {
		t.Error(err)
	}
	out, in := named(all, "s", "message"), named(all, "f", "message")
	if len(out) != 1 || len(in) != 1 || out[0].ID != in[0].ID || out[0].TS != 1000 || in[0].TS != 1600 {
		t.Errorf("the arrow leads from %+v to %+v", out, in)
	}
	if all.About.Base != 1000 {
		t.Errorf("time 0 is %d", all.About.Base)
	}
	two.About.Clock = "another"
	if _, err := timeline.Merge(one, two); err == nil {
		t.Error("two clocks were merged")
	}
	if empty, err := timeline.Merge(); err != nil || len(empty.Events) != 0 {
		t.Error("nothing merged is not nothing")
	}
}

// Check finds what is wrong.
func TestCheckComplains(t *testing.T) {
	x := func(name string, ts, dur timeline.Micros) timeline.Event {
		return timeline.Event{Name: name, Phase: "X", TS: ts, Dur: dur, PID: 1, TID: 1}
	}
	for what, events := range map[string][]timeline.Event{
		"overlap":      {x("a", 0, 10), x("b", 5, 10)},
		"order":        {x("a", 10, 1), x("b", 5, 1)},
		"negative":     {x("a", 0, -1)},
		"no beginning": {{Phase: "e", ID: "1"}},
		"no end":       {{Phase: "b", ID: "1"}},
		"phase":        {{Phase: "Z"}},
	} {
		if (&timeline.Timeline{Events: events}).Check() == nil {
			t.Errorf("%s: nothing wrong?", what)
		}
	}
	if err := (&timeline.Timeline{Events: []timeline.Event{x("a", 0, 10), x("b", 5, 5), x("c", 10, 1)}}).Check(); err != nil {
		t.Error(err)
	}
	if _, err := timeline.Read(strings.NewReader(`{"traceEvents":[{"ts":"x"}]}`)); err == nil {
		t.Error("a time that is no number was read")
	}
}

func cycles() int64 { return asm.Cycles() }

// Recording allocates nothing.
func TestRecordingAllocatesNothing(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	if err := observe.StartTrace(s, observe.TraceConfig{Events: 256}); err != nil {
		t.Fatal(err)
	}
	marcel.RunOn(s, func() {
		other := marcel.Spawn(func() {
			for range 400 {
				marcel.Yield()
			}
		})
		if n := testing.AllocsPerRun(100, func() {
			marcel.Yield()
			sched.TraceSlice(sched.TraceTask, "task", cycles())
		}); n != 0 {
			t.Errorf("%v allocations for a switch and a slice", n)
		}
		other.Join()
	})
	if _, err := observe.StopTrace(s); err != nil {
		t.Fatal(err)
	}
}

func ExampleOf() {
	s := sched.Default()
	if err := observe.StartTrace(s, observe.TraceConfig{}); err != nil {
		fmt.Println(err)
		return
	}
	marcel.Run(func() {
		marcel.SpawnWith(marcel.Attr{Name: "worker"}, func() {}).Join()
	})
	trace, err := observe.StopTrace(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	tl := timeline.Of(trace)
	var file bytes.Buffer
	if err := tl.Write(&file); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(file.String(), `"name":"worker"`), tl.Check())
	// Output: true <nil>
}
