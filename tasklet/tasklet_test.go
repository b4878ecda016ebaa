package tasklet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pm2-go/pm2/hooks"
)

func TestScheduledTwiceBeforeItStartsRunsOnce(t *testing.T) {
	m, v := newManual(t, 2)
	runs := 0
	tk := New(v, func() { runs++ })
	if m.set.Fire(hooks.Idle, 0) != hooks.Quiet {
		t.Error("an empty vector is not quiet")
	}
	if !tk.Schedule() || tk.Schedule() {
		t.Error("the first Schedule must say true, the second one false")
	}
	m.set.Fire(hooks.Idle, 0)
	m.set.Fire(hooks.Idle, 0)
	if runs != 1 {
		t.Errorf("%d runs", runs)
	}
	if !tk.Schedule() {
		t.Error("after the run it can be scheduled again")
	}
	m.set.Fire(hooks.Idle, 0)
	if runs != 2 {
		t.Errorf("%d runs after the second time", runs)
	}
}

func TestEveryHookPointRuns(t *testing.T) {
	for p := range hooks.NumPoints {
		m, v := newManual(t, 1)
		runs := 0
		tk := New(v, func() { runs++ })
		tk.Schedule()
		if got := m.set.Fire(p, 0); got != hooks.Quiet || runs != 1 {
			t.Errorf("%v: %v, %d runs", p, got, runs)
		}
	}
}

func TestRunsWhereItWasScheduled(t *testing.T) {
	m, v := newManual(t, 3)
	runs := 0
	tk := New(v, func() { runs++ })
	expect := func(vp int, kicked bool) {
		t.Helper()
		for other := range 3 {
			before := runs
			if other != vp {
				if m.set.Fire(hooks.Idle, other); runs != before {
					t.Fatalf("ran on %d, not on %d", other, vp)
				}
			}
		}
		before := runs
		if m.set.Fire(hooks.Idle, vp); runs != before+1 {
			t.Fatalf("did not run on %d", vp)
		}
		if got := len(m.kicks) == 1 && m.kicks[0] == vp; got != kicked || len(m.kicks) > 1 {
			t.Errorf("on %d: kicked %v", vp, m.kicks)
		}
		m.kicks = nil
	}
	m.vp = 2
	tk.Schedule()
	expect(2, false)
	m.vp = -1
	tk.Schedule() // from a goroutine: home is where it was last
	expect(2, true)
	m.vp = 1
	tk.ScheduleOn(0)
	expect(0, true)
	tk.ScheduleOn(1)
	expect(1, false)
	m.vp = 77 // a VP that we do not know
	tk.Schedule()
	expect(1, true)
	if tk.ScheduleOn(3) || tk.ScheduleOn(-1) {
		t.Error("scheduled on a VP that does not exist")
	}
	if m.set.Fire(hooks.Idle, 3) != hooks.Quiet || m.set.Fire(hooks.Idle, -1) != hooks.Quiet {
		t.Error("firings in the name of no VP")
	}
}

func TestHomesAreDealtOut(t *testing.T) {
	m, v := newManual(t, 3)
	for range 6 {
		New(v, func() {}).Schedule()
	}
	// One kick for each tasklet queue that was empty, none for the second one in it.
	if diff := cmp.Diff([]int{0, 1, 2}, m.kicks); diff != "" {
		t.Error(diff)
	}
}

// A VP may be taken from a thread between asking where it is and the push.
func TestKicksIfTheVPWasTakenAway(t *testing.T) {
	m, v := newManual(t, 2)
	moving := &movingScheduler{manual: m}
	v.sched = moving
	New(v, func() {}).Schedule()
	if diff := cmp.Diff([]int{1}, m.kicks); diff != "" {
		t.Error(diff)
	}
}

type movingScheduler struct {
	*manual
	asked int
}

func (m *movingScheduler) CurrentVP() int {
	m.asked++
	if m.asked == 1 {
		return 1
	}
	return -1
}

func TestFirstComeFirstServedAndBounded(t *testing.T) {
	for p, limit := range limits {
		m, v := newManual(t, 1)
		var order, want []int
		total := 2*limit + 1
		for i := range total {
			New(v, func() { order = append(order, i) }).Schedule()
			want = append(want, i)
		}
		for firing := 1; firing <= 3; firing++ {
			verdict := hooks.Busy
			if firing == 3 {
				verdict = hooks.Quiet
			}
			if got := m.set.Fire(hooks.Point(p), 0); got != verdict || len(order) != min(total, firing*limit) {
				t.Errorf("%v, firing %d: %v after %d runs", hooks.Point(p), firing, got, len(order))
			}
		}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAFiringThatLeavesWorkKicksUnlessItIsOnTheVP(t *testing.T) {
	for _, c := range []struct {
		vp   int
		want []int
	}{{-1, []int{1}}, {0, []int{1}}, {1, nil}} {
		m, v := newManual(t, 2)
		var tk *Tasklet
		tk = New(v, func() { tk.Schedule() })
		tk.ScheduleOn(1)
		m.vp, m.kicks = c.vp, nil
		if got := m.set.Fire(hooks.Timer, 1); got != hooks.Busy {
			t.Errorf("from %d: %v", c.vp, got)
		}
		if diff := cmp.Diff(c.want, m.kicks); diff != "" {
			t.Errorf("from %d: %s", c.vp, diff)
		}
	}
}

func TestWhatIsLeftComesBeforeWhatComesLater(t *testing.T) {
	m, v := newManual(t, 1)
	var order []int
	add := func(i int) { New(v, func() { order = append(order, i) }).Schedule() }
	for i := range threadLimit + 2 {
		add(i)
	}
	m.set.Fire(hooks.Switch, 0)
	add(threadLimit + 2)
	m.set.Fire(hooks.Switch, 0)
	for i, got := range order {
		if got != i {
			t.Fatalf("order %v", order)
		}
	}
	if len(order) != threadLimit+3 {
		t.Errorf("%d runs", len(order))
	}
}

func TestReschedulingItselfRunsOncePerFiring(t *testing.T) {
	m, v := newManual(t, 2)
	runs, others := 0, 0
	var tk Tasklet
	if err := tk.Init(v, func() {
		runs++
		if runs < 5 && (!tk.Schedule() || tk.Schedule()) {
			t.Error("while it runs it can be scheduled, once")
		}
	}); err != nil {
		t.Fatal(err)
	}
	m.vp = 0
	tk.Schedule()
	other := New(v, func() { others++ })
	for i := 1; i <= 5; i++ {
		other.Schedule()
		verdict := hooks.Busy
		if i == 5 {
			verdict = hooks.Quiet
		}
		if got := m.set.Fire(hooks.Idle, 0); got != verdict || runs != i || others != i {
			t.Fatalf("firing %d: %v, %d runs, %d of the other one", i, got, runs, others)
		}
	}
}

func TestDisableNests(t *testing.T) {
	m, v := newManual(t, 1)
	runs := 0
	tk := New(v, func() { runs++ })
	expect := func(n int) {
		t.Helper()
		if got := m.set.Fire(hooks.Idle, 0); got != hooks.Quiet || runs != n {
			t.Fatalf("%v, %d runs, want %d", got, runs, n)
		}
	}
	if tk.Enable() {
		t.Error("it was not disabled")
	}
	tk.Schedule()
	for range 2 {
		if !tk.Disable() {
			t.Error("Disable says that it runs")
		}
	}
	expect(0) // disabled in its tasklet queue
	if !tk.Enable() {
		t.Error("it was disabled")
	}
	expect(0)
	if tk.Schedule() {
		t.Error("it was scheduled")
	}
	tk.Enable()
	expect(1) // once, and not lost
	expect(1)
	tk.Disable()
	tk.Schedule()
	expect(1)
	tk.Enable()
	expect(2)
	tk.Schedule()
	tk.Disable()
	tk.Enable()
	expect(3) // disabled and enabled before a firing looked
}

func TestDisablingAQueuedOneDoesNotKeepTheVPBusy(t *testing.T) {
	m, v := newManual(t, 1)
	tk := New(v, func() { t.Error("it is disabled") })
	tk.Schedule()
	tk.Disable()
	if got := m.set.Fire(hooks.Idle, 0); got != hooks.Quiet {
		t.Errorf("first firing: %v", got)
	}
	if got := m.set.Fire(hooks.Idle, 0); got != hooks.Quiet {
		t.Errorf("second firing: %v", got)
	}
}

func TestNothingAllocates(t *testing.T) {
	if slowIdentity() {
		t.Skip("the portable goroutine identity allocates")
	}
	m, v := newManual(t, 1)
	m.vp = 0
	tk := New(v, func() {})
	if n := testing.AllocsPerRun(1000, func() {
		tk.Schedule()
		tk.Schedule()
		tk.Disable()
		m.set.Fire(hooks.Switch, 0)
		tk.Enable()
		m.set.Fire(hooks.Idle, 0)
		m.set.Fire(hooks.Timer, 0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() {
		tk.Schedule()
		tk.Kill()
		if err := tk.Init(v, tk.fn); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("kill and init: %v allocations", n)
	}
}
