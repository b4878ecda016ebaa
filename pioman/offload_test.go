package pioman

import (
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// watched is a scheduler by hand that says which VPs are idle.
type watched struct {
	*byHand
	awake, asleep []int
}

func (w watched) Idle(vp int) (idle, awake bool) {
	awake = slices.Contains(w.awake, vp)
	return awake || slices.Contains(w.asleep, vp), awake
}

// The nearest idle core gets the task, an awake one first; with none the root does.
func TestOffloadGoesToTheNearestIdleCore(t *testing.T) {
	for _, x := range []struct {
		from          int
		awake, asleep []int
		set           CPUSet
		wakes         bool
		want          int
	}{
		{from: 5, awake: []int{0, 6, 9}, want: 6},
		{from: 5, awake: []int{0, 9}, asleep: []int{6}, wakes: true, want: 0},
		{from: 5, asleep: []int{9, 12}, wakes: true, want: 9},
		{from: 5, asleep: []int{9, 12}, want: -1},
		{from: 13, awake: []int{3, 15, 12}, want: 12},
		{from: 5, want: -1},
		{from: 5, awake: []int{5}, want: -1}, // not itself
		{from: -1, awake: []int{7}, want: 7},
		{from: 5, awake: []int{6, 9}, set: topo.CPUs(8, 9), want: 9},
		{from: 5, awake: []int{6}, set: topo.CPUs(8, 9), want: -1},
	} {
		e := engine(t, Config{})
		s := &watched{newPlaced(16, synthetic(t, "numa:4 l3:1 core:4 pu:1")), x.awake, x.asleep}
		attach(t, e, s)
		s.current.Store(int64(x.from))
		var task Task
		var c Completion
		task.Init("offloaded", func(*Task) Status { return Done }, OneShot)
		task.SetCPUs(x.set)
		task.Notify(&c, 1)
		kicks := s.kicks.Load()
		vp, err := e.Offload(&task, x.wakes)
		if err != nil || vp != x.want {
			t.Errorf("%+v: %d, %v", x, vp, err)
			continue
		}
		if woken := s.kicks.Load() != kicks && s.kicked.Load() == int64(vp); woken != (vp >= 0 && slices.Contains(x.asleep, vp)) {
			t.Errorf("%+v: woken: %v", x, woken)
		}
		tr := e.tree.Load()
		q := tr.where(&task)
		if vp >= 0 {
			q = tr.ways[vp][0].queue
		}
		if q.submitted.empty() {
			t.Errorf("%+v: it is elsewhere", x)
		}
		e.visit(-1, true)
		if !c.Test(1) {
			t.Errorf("%+v: did not run", x)
		}
	}
}

// An engine without a scheduler, or with one all of whose VPs are busy, runs it all the same.
func TestOffloadWithoutATree(t *testing.T) {
	for _, hooked := range []bool{false, true} {
		e := engine(t, Config{})
		if hooked {
			attach(t, e, &watched{byHand: newByHand(2)})
		}
		ran := 0
		var task Task
		task.Init("here", func(*Task) Status { ran++; return Done }, OneShot)
		if vp, err := e.Offload(&task, false); vp != -1 || err != nil {
			t.Errorf("%d, %v", vp, err)
		}
		e.Poll()
		if ran != 1 {
			t.Errorf("ran %d times", ran)
		}
	}
}

// An idle VP that is not the one of its package that polls still runs what is in its leaf.
func TestIdleVPsRunTheirOwnLeaves(t *testing.T) {
	e := engine(t, Config{})
	s := newPlaced(2, synthetic(t, "core:2 pu:1"))
	attach(t, e, s)
	e.attached.Load().lapse = asm.ToCycles(int64(time.Hour)) // the one that polled, still does
	e.AddPending()
	defer e.RemovePending()
	s.set.Fire(hooks.Idle, 0) // is the poller of the package
	ran := 0
	var near, far Task
	near.Init("near 1", func(*Task) Status { ran++; return Done }, OneShot)
	near.SetCPUs(topo.CPUs(1))
	far.Init("anywhere", func(*Task) Status { t.Error("the root is not its business"); return Done }, OneShot)
	submit(t, e, &near)
	submit(t, e, &far)
	if v := s.set.Fire(hooks.Idle, 1); ran != 1 || v != hooks.Busy {
		t.Errorf("ran %d times, verdict %v", ran, v)
	}
	if v := s.set.Fire(hooks.Idle, 1); v != hooks.Quiet {
		t.Errorf("with nothing left its verdict is %v", v)
	}
	if err := far.Cancel(); err != nil {
		t.Error(err)
	}
}

func TestOffloadAllocatesNothing(t *testing.T) {
	e := engine(t, Config{})
	s := &watched{byHand: newPlaced(2, synthetic(t, "core:2 pu:1")), awake: []int{1}}
	attach(t, e, s)
	s.current.Store(0)
	var task Task
	task.Init("offloaded", func(*Task) Status { return Done }, OneShot)
	if n := testing.AllocsPerRun(200, func() {
		if vp, err := e.Offload(&task, false); vp != 1 || err != nil {
			t.Fatal(vp, err)
		}
		e.poll(1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// On a real scheduler, whether sleepers are woken or not, every offloaded task runs, whether the other VP is awake,
// sleeps, or is busy, while the caller computes without a scheduling point.
func TestOffloadOnARealScheduler(t *testing.T) {
	s := scheduler(t, sched.Config{VPs: 2, Topology: synthetic(t, "core:2 pu:1")})
	for _, wakes := range []bool{false, true} {
		e := engine(t, Config{})
		stop := attach(t, e, s)
		offloadMany(t, e, s, wakes)
		stop()
	}
}

func offloadMany(t *testing.T, e *Engine, s *sched.Scheduler, wakes bool) {
	n := 100
	if testing.Short() {
		n = 30
	}
	finishes(t, "offloaded tasks", func() {
		marcel.RunOn(s, func() {
			for i := range n {
				var task Task
				var c Completion
				task.Init("offloaded", func(*Task) Status { return Done }, OneShot)
				task.Notify(&c, 1)
				if _, err := e.Offload(&task, wakes); err != nil {
					t.Error(err)
					return
				}
				switch i % 3 {
				case 0:
					for !c.Test(1) { // not even a call
					}
				case 1:
					marcel.Yield()
				}
				if err := c.Wait(e, 1); err != nil {
					t.Error(err)
				}
			}
		})
	})
}
