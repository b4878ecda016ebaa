package tasklet

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pm2-go/pm2/hooks"
	"pgregory.net/rapid"
)

// attachWith attaches a vector whose tasklet queues go to a helper after so many firings that leave tasklets.
func attachWith(t rapid.TB, s Scheduler, maxUnfinished int) *Vector {
	t.Helper()
	v, err := Attach(s)
	if err != nil {
		t.Fatal(err)
	}
	v.maxUnfinished = maxUnfinished
	return v
}

// newHigh is New for a tasklet of high priority.
func newHigh(v *Vector, fn func()) *Tasklet {
	t := new(Tasklet)
	_ = t.InitHigh(v, fn)
	return t
}

// again makes a tasklet that schedules itself until stop is set, and counts.
func again(v *Vector, runs *int, stop *bool) *Tasklet {
	var t *Tasklet
	t = New(v, func() {
		*runs++
		if !*stop {
			t.Schedule()
		}
	})
	return t
}

func TestAfterTheBoundAQueueGoesToAHelper(t *testing.T) {
	for _, p := range []hooks.Point{hooks.Switch, hooks.Yield, hooks.Library} {
		m := &manual{n: 2, vp: 1}
		v := attachWith(t, m, 3)
		runs, stop := 0, false
		again(v, &runs, &stop).Schedule()
		for range 20 { // firings that delay no thread do not count
			m.set.Fire(hooks.Idle, 1)
			m.set.Fire(hooks.Timer, 1)
		}
		if runs != 40 || len(m.spawn) != 0 {
			t.Fatalf("%d runs, %d helpers", runs, len(m.spawn))
		}
		for i := range 10 {
			if got := m.set.Fire(p, 1); got != hooks.Busy || runs != 41+min(i, 3) || len(m.spawn) != min(i/3, 1) {
				t.Fatalf("%v, firing %d: %v, %d runs, %d helpers", p, i, got, runs, len(m.spawn))
			}
		}
		m.set.Fire(hooks.Timer, 1) // goes on
		m.set.Fire(hooks.Idle, 1)
		if runs != 46 {
			t.Errorf("%v: %d runs", p, runs)
		}
		stop = true
		m.spawn[0]() // the helper, on this goroutine
		if got := m.set.Fire(p, 1); got != hooks.Quiet || runs != 47 || v.queues[1].helperServes.Load() {
			t.Errorf("%v: %v after %d runs", p, got, runs)
		}
		stop = false
		New(v, func() { runs++ }).Schedule()
		if m.set.Fire(p, 1); runs != 48 {
			t.Errorf("%v: the hooks do not serve after the helper", p)
		}
	}
}

func TestAQueueThatGetsEmptyBeginsToCountAnew(t *testing.T) {
	m := &manual{n: 1, vp: 0}
	v := attachWith(t, m, 3)
	runs, stop := 0, false
	tk := again(v, &runs, &stop)
	for range 5 {
		stop = false
		tk.Schedule()
		for range 3 {
			m.set.Fire(hooks.Switch, 0)
		}
		stop = true
		m.set.Fire(hooks.Switch, 0)
	}
	if len(m.spawn) != 0 || runs != 20 {
		t.Errorf("%d helpers, %d runs", len(m.spawn), runs)
	}
}

// However a helper ends, the hooks serve the tasklet queue again.
func TestHelperEnds(t *testing.T) {
	for name, end := range map[string]func(v *Vector){
		"detached": func(v *Vector) { v.Detach() },
		"Goexit":   func(*Vector) { runtime.Goexit() },
	} {
		m := &manual{n: 1, vp: 0}
		v := attachWith(t, m, 1)
		helping := false
		var tk *Tasklet
		tk = New(v, func() {
			if helping {
				end(v)
			}
			tk.Schedule()
		})
		tk.Schedule()
		m.set.Fire(hooks.Switch, 0)
		m.set.Fire(hooks.Switch, 0)
		if len(m.spawn) != 1 {
			t.Fatalf("%s: %d helpers", name, len(m.spawn))
		}
		helping = true
		done := make(chan struct{})
		go func() { defer close(done); m.spawn[0]() }()
		<-done
		if v.queues[0].helperServes.Load() {
			t.Errorf("%s: the queue still is the helper's", name)
		}
		if !tk.Kill() {
			t.Errorf("%s: not over", name)
		}
	}
}

func TestHighPriorityGoesFirstAndLeavesAQuarter(t *testing.T) {
	m, v := newManual(t, 1)
	var order, want []int
	add := func(isHigh bool, i int) {
		fn := func() { order = append(order, i) }
		if isHigh {
			newHigh(v, fn).Schedule()
		} else {
			New(v, fn).Schedule()
		}
	}
	for i := range 6 { // normal ones 100.., high ones 0..
		add(false, 100+i)
	}
	for i := range 10 {
		add(true, i)
	}
	m.set.Fire(hooks.Switch, 0) // 8: a quarter for the normal ones
	want = []int{0, 1, 2, 3, 4, 5, 100, 101}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Fatal(diff)
	}
	m.set.Fire(hooks.Switch, 0) // 4 high ones are left, and 4 normal ones
	want = append(want, 6, 7, 8, 9, 102, 103, 104, 105)
	if diff := cmp.Diff(want, order); diff != "" {
		t.Fatal(diff)
	}
	if got := m.set.Fire(hooks.Idle, 0); got != hooks.Quiet {
		t.Error(got)
	}
}

func TestHighPriorityStaysWithATaskletThatIsKilled(t *testing.T) {
	_, v := newManual(t, 1)
	tk := newHigh(v, func() { t.Error("it is dead") })
	tk.Schedule()
	tk.Disable()
	if !tk.Kill() || rankOf(tk.word.Load()) != 0 || v.queues[0].numAdopted() != 0 {
		t.Errorf("state %#x", uint64(tk.word.Load()))
	}
	if newHigh(nil, func() {}).Schedule() || newHigh(v, nil).Schedule() {
		t.Error("a tasklet without a vector or a function does something")
	}
	if err := tk.Init(v, func() {}); err != nil || rankOf(tk.word.Load()) != 1 {
		t.Errorf("used again, of normal priority: %v, %#x", err, uint64(tk.word.Load()))
	}
}
