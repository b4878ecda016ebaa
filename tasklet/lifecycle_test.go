package tasklet

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"github.com/pm2-go/pm2/hooks"
)

func TestKillDropsWhatIsScheduled(t *testing.T) {
	m, v := newManual(t, 1)
	runs := 0
	tk := New(v, func() { t.Error("it is dead") })
	before, after := New(v, func() { runs++ }), New(v, func() { runs++ })
	before.Schedule()
	tk.Schedule()
	after.Schedule()
	for range 2 {
		if !tk.Kill() {
			t.Error("Kill says that it is not over")
		}
	}
	if tk.Schedule() {
		t.Error("the dead can be scheduled")
	}
	m.set.Fire(hooks.Idle, 0)
	if runs != 2 {
		t.Errorf("%d runs of its neighbors, want 2", runs)
	}
	tk.Disable()
	if tk.Schedule() || !tk.Enable() {
		t.Error("disabling the dead")
	}
	// And back to life.
	again := 0
	if err := tk.Init(v, func() { again++ }); err != nil {
		t.Fatal(err)
	}
	tk.Schedule()
	m.set.Fire(hooks.Idle, 0)
	if again != 1 {
		t.Errorf("%d runs after Init", again)
	}
}

func TestKillFromATasklet(t *testing.T) {
	m, v := newManual(t, 2)
	m.vp = 0
	var self, sibling, remote Tasklet
	runs := 0
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	must(sibling.Init(v, func() { t.Error("sibling ran") }))
	must(remote.Init(v, func() { t.Error("remote ran") }))
	must(self.Init(v, func() {
		runs++
		self.Schedule()
		if self.Kill() {
			t.Error("it says that it does not run")
		}
		if !sibling.Kill() { // in our own tasklet queue: we can take it out
			t.Error("sibling is still there")
		}
		if remote.Kill() { // in a tasklet queue that is not ours
			t.Error("remote was in another queue, what took it out?")
		}
		if err := remote.Init(v, func() {}); !errors.Is(err, ErrInUse) {
			t.Errorf("Init in use: %v", err)
		}
		if self.Disable() {
			t.Error("it says that it does not run")
		}
	}))
	self.Schedule()
	sibling.Schedule()
	remote.ScheduleOn(1)
	if got := m.set.Fire(hooks.Idle, 0); got != hooks.Quiet || runs != 1 {
		t.Errorf("%v, %d runs", got, runs)
	}
	m.set.Fire(hooks.Idle, 1)
	for i, tk := range []*Tasklet{&self, &sibling, &remote} {
		if !tk.Kill() {
			t.Errorf("%d is not over", i)
		}
	}
}

func TestTheTurnIsNotTakenTwice(t *testing.T) {
	m, v := newManual(t, 1)
	var inner hooks.Verdict
	runs := 0
	New(v, func() { runs++; inner = m.set.Fire(hooks.Timer, 0) }).Schedule()
	New(v, func() { runs++ }).Schedule()
	m.set.Fire(hooks.Idle, 0)
	if inner != hooks.Busy || runs != 2 {
		t.Errorf("a firing inside a firing: %v; %d runs", inner, runs)
	}
}

func TestPanicAndGoexitLeaveTheQueueUsable(t *testing.T) {
	for name, leave := range map[string]func(){
		"panic":  func() { panic("on purpose") },
		"Goexit": runtime.Goexit,
	} {
		m, v := newManual(t, 1)
		runs := 0
		bad := New(v, leave)
		good := New(v, func() { runs++ })
		bad.Schedule()
		good.Schedule()
		var thrown any
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { thrown = recover() }()
			m.set.Fire(hooks.Idle, 0)
			t.Errorf("%s: it came back", name)
		}()
		<-done
		if name == "panic" && thrown != "on purpose" {
			t.Errorf("the scheduler sees %v", thrown)
		}
		if got := m.set.Fire(hooks.Idle, 0); got != hooks.Quiet || runs != 1 {
			t.Errorf("%s: %v and %d runs of the next one", name, got, runs)
		}
		if bad.Schedule() || !bad.Kill() {
			t.Errorf("%s: it is not dead", name)
		}
	}
}

func TestDetach(t *testing.T) {
	m, v := newManual(t, 2)
	tk := New(v, func() { t.Error("it ran") })
	other := New(v, func() { t.Error("it ran") })
	tk.Schedule()
	other.Schedule()
	v.Detach()
	v.Detach()
	for p := range hooks.NumPoints {
		if !m.set.Empty(p) {
			t.Errorf("%v: %v", p, m.set.Registered(p))
		}
	}
	if v.fire(0, hooks.Idle, 64) != hooks.Quiet || v.fire(1, hooks.Idle, 64) != hooks.Quiet {
		t.Error("a firing that was under way finds something")
	}
	if tk.Schedule() || tk.ScheduleOn(0) {
		t.Error("scheduled on a vector that is detached")
	}
	if !tk.Kill() || !other.Kill() {
		t.Error("not dead")
	}
	_, v2 := newManual(t, 1)
	if err := tk.Init(v2, func() {}); err != nil {
		t.Errorf("moving to another vector: %v", err)
	}
	(*Vector)(nil).Detach()
}

// A caller may have looked whether the vector is detached just before it was, and
// push just after Detach had emptied the tasklet queue; and a firing may still come.
func TestNothingBeginsAfterDetachEvenIfItIsPushed(t *testing.T) {
	_, v := newManual(t, 1)
	tk := New(v, func() { t.Error("it ran") })
	v.Detach()
	v.closed.Store(false)
	tk.Schedule()
	v.closed.Store(true)
	v.fire(0, hooks.Idle, idleLimit)
	if !tk.Kill() {
		t.Error("not over")
	}
}

// Between two looks of an idle VP another firing has the lock and leaves
// work behind: the first look must not count.
func TestAQueueIsNotEmptyIfAFiringHadTheTurnMeanwhile(t *testing.T) {
	for name, leave := range map[string]func(tk, other *Tasklet){
		"nothing":               func(tk, other *Tasklet) {},
		"the same one, again":   func(tk, other *Tasklet) { tk.Schedule() },
		"another one, on top":   func(tk, other *Tasklet) { other.Schedule() },
		"one that cannot begin": func(tk, other *Tasklet) { other.Schedule(); other.Disable() },
	} {
		_, v := newManual(t, 1)
		l := &v.queues[0]
		var tk *Tasklet
		other := New(v, func() {})
		tk = New(v, func() { leave(tk, other) })
		seen := l.lock.word.Load()
		if !l.emptySince(seen) {
			t.Errorf("%s: a new queue is not empty", name)
		}
		tk.Schedule()
		if l.emptySince(seen) {
			t.Errorf("%s: one was pushed", name)
		}
		l.fire(v, hooks.Idle, idleLimit)
		if l.emptySince(seen) {
			t.Errorf("%s: a firing had the lock", name)
		}
		if !l.lock.take(l.lock.word.Load(), 42) || l.emptySince(seen) || l.emptySince(l.lock.word.Load()) {
			t.Errorf("%s: a firing has the lock", name)
		}
		if l.lock.take(l.lock.word.Load(), 43) || !l.lock.is(42) || l.lock.is(43) {
			t.Errorf("%s: the turn is 42's", name)
		}
	}
}

func TestDetachFromATasklet(t *testing.T) {
	m, v := newManual(t, 1)
	runs := 0
	New(v, func() { runs++; v.Detach() }).Schedule()
	New(v, func() { runs++ }).Schedule()
	if got := m.set.Fire(hooks.Idle, 0); got != hooks.Quiet || runs != 1 || !m.set.Empty(hooks.Idle) {
		t.Errorf("%v, %d runs", got, runs)
	}
}

func TestBadInput(t *testing.T) {
	for name, s := range map[string]Scheduler{
		"none":     nil,
		"no VPs":   &manual{n: 0},
		"too many": &manual{n: queueLimit + 1},
		"no hooks": hookless{&manual{n: 1}},
	} {
		if v, err := Attach(s); v != nil || !errors.Is(err, ErrScheduler) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	_, v := newManual(t, 1)
	var tk Tasklet
	if tk.Schedule() || tk.ScheduleOn(0) || !tk.Disable() || tk.Enable() || !tk.Kill() {
		t.Error("a tasklet that was never initialized does something")
	}
	if err := tk.Init(nil, func() {}); !errors.Is(err, ErrVector) {
		t.Error(err)
	}
	if err := tk.Init(&Vector{}, func() {}); !errors.Is(err, ErrVector) {
		t.Error(err)
	}
	if err := tk.Init(v, nil); !errors.Is(err, ErrFunc) {
		t.Error(err)
	}
	if err := tk.Init(v, func() {}); err != nil {
		t.Error(err)
	}
	if err := tk.Init(v, func() {}); !errors.Is(err, ErrInUse) {
		t.Errorf("initialized twice: %v", err)
	}
	for _, dead := range []*Tasklet{New(nil, func() {}), New(v, nil)} {
		if dead.Schedule() || !dead.Kill() || dead.Enable() {
			t.Error("a tasklet without a function or a vector does something")
		}
	}
	if size := unsafe.Sizeof(tk); size > 32 {
		t.Errorf("a tasklet has grown to %d bytes", size)
	}
}

type hookless struct{ *manual }

func (hookless) Hooks() *hooks.Set { return nil }
