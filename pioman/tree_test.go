package pioman

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

func synthetic(t testing.TB, description string) *topo.Topology {
	t.Helper()
	m, err := topo.Synthetic(description)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// planted makes an engine over a described machine, hooked to a scheduler by hand
// with a VP for each PU.
func planted(t testing.TB, description string, tune func(*Params)) (*Engine, *byHand) {
	t.Helper()
	m := synthetic(t, description)
	e := engine(t, Config{Params: tuned(tune)})
	s := newPlaced(len(m.PUs()), m)
	attach(t, e, s)
	return e, s
}

// counter submits a repeat task near some CPUs and returns how often it was polled.
func counter(t testing.TB, e *Engine, cpus ...int) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	task := new(Task)
	task.Init(fmt.Sprint("near ", cpus), func(*Task) Status { n.Add(1); return Again }, Repeat)
	task.SetCPUs(topo.CPUs(cpus...))
	submit(t, e, task)
	return &n
}

func neverSurvey(p *Params) { p.surveyPeriod = time.Hour }

func TestTreeShape(t *testing.T) {
	for _, x := range []struct {
		machine string
		queues  int
		way     int // stops
	}{
		{"pu:1", 1, 1},
		{"core:2 pu:1", 3, 2},
		{"package:1 l3:1 core:2 pu:2", 7, 3},
		{"numa:4 l3:1 core:4 pu:1", 21, 3},
		{"numa:2 package:2 core:2 pu:2", 31, 5},
	} {
		e, _ := planted(t, x.machine, nil)
		if n := len(e.queues()); n != x.queues {
			t.Errorf("%s: %d queues, want %d", x.machine, n, x.queues)
		}
		tr := e.tree.Load()
		if x.queues == 1 {
			if tr.way(0) != nil {
				t.Errorf("%s: one VP has a way", x.machine)
			}
			continue
		}
		for vp, way := range tr.ways {
			if len(way) != x.way || way[len(way)-1].queue != e.root {
				t.Errorf("%s: the way of %d has %d stops, want %d, the last one the root", x.machine, vp, len(way), x.way)
			}
			for i, n := range way {
				if i+1 < len(way) && n.up != way[i+1] {
					t.Errorf("%s: way of %d: stop %d is not below the next", x.machine, vp, i)
				}
			}
		}
	}
}

// Only items with VPs count: a scheduler on two PUs of one node of a large
// machine has two leaves and a root.
func TestTreeOfAPartOfTheMachine(t *testing.T) {
	e := engine(t, Config{})
	attach(t, e, newPlaced(2, synthetic(t, "numa:4 l3:1 core:4 pu:1")))
	if n := len(e.queues()); n != 3 {
		t.Fatalf("%d queues, want 3", n)
	}
	near := counter(t, e, 1, 5, 9) // 5 and 9 have no VP
	if q := e.tree.Load().way(1)[0].queue; q.submitted.empty() {
		t.Error("a set of which one CPU is ours does not go to its leaf")
	}
	nowhere := counter(t, e, 9)
	e.visit(0, true)
	if near.Load() != 0 || nowhere.Load() != 1 {
		t.Errorf("the round of 0 polled %d near 1 and %d nowhere, want 0 and 1", near.Load(), nowhere.Load())
	}
}

// A CPU set goes to the queue of the lowest item that covers it: against topo's own answer.
func TestCovering(t *testing.T) {
	const cpus = 16
	machine := synthetic(t, "numa:2 package:2 core:2 pu:2")
	e := engine(t, Config{})
	attach(t, e, newPlaced(cpus, machine))
	tr := e.tree.Load()
	rapid.Check(t, func(t *rapid.T) {
		set := topo.CPUs(rapid.SliceOfN(rapid.IntRange(0, cpus+3), 1, 5).Draw(t, "CPUs")...)
		want := e.root
		if it := machine.Covering(set); it != nil {
			at := slices.IndexFunc(tr.nodes, func(n *taskNode) bool { return n.cpus.Equal(it.CPUs) })
			want = tr.nodes[at].queue
		}
		if tr.covering(set) != want {
			t.Fatalf("%v: not the queue of %v", set, machine.Covering(set))
		}
	})
	effort.SkipIfNotInlined(t)
	set := topo.CPUs(0, 2)
	if n := testing.AllocsPerRun(100, func() { tr.covering(set) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// With all VPs polling, each level sees about one visit per round of all its
// children: every fourth round of each of four.
func TestParentsEveryKthRound(t *testing.T) {
	const vps, rounds = 16, 160
	e, _ := planted(t, "numa:4 l3:1 core:4 pu:1", neverSurvey) // but once
	leaf, node, root := counter(t, e, 5), counter(t, e, 4, 7), counter(t, e)
	for range surveyRounds { // until that survey
		for vp := range vps {
			e.poll(vp)
		}
	}
	was := [3]int64{leaf.Load(), node.Load(), root.Load()}
	for range rounds {
		for vp := range vps {
			e.poll(vp)
		}
	}
	got := [3]int64{leaf.Load() - was[0], node.Load() - was[1], root.Load() - was[2]}
	if want := [3]int64{rounds, rounds, rounds}; got != want {
		t.Errorf("%d rounds of all: leaf, node and root were polled %v times, want %v", rounds, got, want)
	}
}

// One that polls alone visits its whole way every round: no other one's visits are to come.
func TestALonePollerVisitsEveryLevel(t *testing.T) {
	e, _ := planted(t, "numa:4 l3:1 core:4 pu:1", nil)
	root := counter(t, e)
	for range 10 * surveyRounds {
		e.poll(3)
	}
	if n := root.Load(); n != 10*surveyRounds {
		t.Errorf("%d visits of the root in %d rounds", n, 10*surveyRounds)
	}
}

// Poll visits the whole way, whosever turn it is.
func TestPollVisitsTheWholeWay(t *testing.T) {
	e, s := planted(t, "core:2 pu:1", neverSurvey)
	tr := e.tree.Load()
	tr.nodes[0].share.Store(2)
	own, other, root := counter(t, e, 1), counter(t, e, 0), counter(t, e)
	s.current.Store(1)
	for range 10 {
		e.Poll()
	}
	if own.Load() != 10 || root.Load() != 10 || other.Load() != 0 {
		t.Errorf("ten polls on VP 1: own leaf %d, the other's %d, root %d; want 10, 0, 10", own.Load(), other.Load(), root.Load())
	}
	for range 10 {
		e.poll(1)
	}
	if own.Load() != 20 || root.Load() != 15 {
		t.Errorf("ten rounds of its hooks: leaf %d, root %d; want 10 and 5 more", own.Load()-10, root.Load()-10)
	}
}

// Rule 1: a poller on no VP visits all queues.
func TestAGoroutinePollsAllQueues(t *testing.T) {
	e, _ := planted(t, "numa:4 l3:1 core:4 pu:1", neverSurvey)
	var all []*atomic.Int64
	for cpu := range 16 {
		all = append(all, counter(t, e, cpu))
	}
	all = append(all, counter(t, e, 0, 1), counter(t, e))
	e.Poll()
	for i, n := range all {
		if n.Load() != 1 {
			t.Errorf("task %d was polled %d times in one round", i, n.Load())
		}
	}
}

// Rule 3: a queue whose VPs make no rounds is polled by any that does, be it one
// VP, in its hooks alone, or the timer in the name of one.
func TestNeglectedQueuesArePolled(t *testing.T) {
	for _, how := range []string{"idle", "timer"} {
		e, s := planted(t, "numa:4 l3:1 core:4 pu:1", nil)
		e.AddPending()
		var all []*atomic.Int64
		for cpu := range 16 {
			all = append(all, counter(t, e, cpu))
		}
		all = append(all, counter(t, e, 12, 15), counter(t, e))
		eventually(t, how+": all polled", func() bool {
			if how == "idle" {
				s.set.Fire(hooks.Idle, 3)
			} else {
				s.set.Fire(hooks.Timer, 3)
			}
			return !slices.ContainsFunc(all, func(n *atomic.Int64) bool { return n.Load() < 3 })
		})
		e.RemovePending()
	}
}

// On a real scheduler of two VPs one of which is disabled, and in an idle process whose
// VPs all sleep, a task of any leaf is polled.
func TestLeavesOfDisabledAndSleepingVPs(t *testing.T) {
	s := scheduler(t, sched.Config{VPs: 2, Topology: synthetic(t, "core:2 pu:1")})
	e := engine(t, Config{})
	attach(t, e, s)
	if n := len(e.queues()); n != 3 {
		t.Fatalf("%d queues, want a root and two leaves", n)
	}
	run := func(what string) {
		for cpu := range 2 {
			var task Task
			var c Completion
			task.Init(what, func(*Task) Status { return Done }, OneShot)
			task.SetCPUs(topo.CPUs(cpu))
			task.Notify(&c, 1)
			submit(t, e, &task)
			eventually(t, fmt.Sprint(what, " ", cpu), func() bool { return c.Test(1) }) // polls nothing
		}
	}
	run("from a goroutine")
	if err := s.DisableVP(1); err != nil {
		t.Fatal(err)
	}
	run("one VP disabled")
	if err := s.EnableVP(1); err != nil {
		t.Fatal(err)
	}
	run("enabled again")
}

// An engine that goes to another machine takes its tasks along, and those that come in
// meanwhile.
func TestReplanting(t *testing.T) {
	e := engine(t, Config{})
	big, small := newPlaced(16, synthetic(t, "numa:4 l3:1 core:4 pu:1")), newPlaced(2, synthetic(t, "core:2 pu:1"))
	stop := attach(t, e, big)
	before := counter(t, e, 7)
	e.poll(7)
	tr := e.tree.Load()
	var late Task
	polls := 0
	late.Init("late", func(*Task) Status { polls++; return Again }, Repeat)
	late.SetCPUs(topo.CPUs(7))
	if err := e.claim(&late); err != nil { // the first half of Submit
		t.Fatal(err)
	}
	q := tr.covering(late.cpus)
	stop()
	if e.tree.Load() != tr {
		t.Error("stop changed the tree")
	}
	stop = attach(t, e, big)
	if e.tree.Load() != tr {
		t.Error("the same machine got another tree")
	}
	stop()
	attach(t, e, small)
	e.put(&late, q, tr) // and the second
	e.visit(0, true)
	e.visit(0, true)
	if n := before.Load(); n != 3 || polls != 2 {
		t.Errorf("polled %d times, and the late one %d times; want 3 and 2", n, polls)
	}
	if err := late.Cancel(); err != nil || late.State() != StateCanceled {
		t.Errorf("%v, %v", err, late.State())
	}
}

// Tasks near random CPUs, submitted and canceled while pollers of all kinds run and the
// engine moves between machines: each ends once, or is canceled.
func TestTreeStress(t *testing.T) {
	var machines []Scheduler
	for _, levels := range []string{"numa:2 core:2 pu:1", "core:4 pu:1", "numa:2 core:1 pu:2"} {
		machines = append(machines, newPlaced(4, synthetic(t, levels)))
	}
	e := engine(t, Config{Params: tuned(func(p *Params) { p.surveyPeriod = 0 })})
	each := effort.Of(400)
	var stop atomic.Bool
	var pollers, submitters sync.WaitGroup
	for vp := -1; vp < 2; vp++ {
		pollers.Go(func() {
			for !stop.Load() {
				e.poll(vp)
				yieldCPU()
			}
		})
	}
	pollers.Go(func() {
		for i := 0; !stop.Load(); i++ {
			detach, err := e.Attach(machines[i%len(machines)])
			if err != nil {
				t.Error(err)
				return
			}
			yieldCPU()
			detach()
		}
	})
	for g := range 3 {
		submitters.Go(func() {
			for i := range each {
				var task Task
				var runs atomic.Int32
				task.Init("one", func(*Task) Status { runs.Add(1); return Done }, OneShot)
				task.SetCPUs(topo.CPUs((g+i)%4, i%3))
				if err := e.Submit(&task); err != nil {
					t.Error(err)
					return
				}
				if i%5 == 0 {
					if err := task.Cancel(); err != nil {
						t.Error(err)
					}
				} else {
					eventually(t, "inactive", func() bool { return task.State().Inactive() })
				}
				want := int32(1)
				if task.State() == StateCanceled {
					want = 0
				}
				if n := runs.Load(); n != want {
					t.Errorf("%v and ran %d times", task.State(), n)
				}
			}
		})
	}
	finishes(t, "submitters", submitters.Wait)
	stop.Store(true)
	finishes(t, "pollers", pollers.Wait)
	if n := e.Pending(); n != 0 {
		t.Errorf("%d pending at the end", n)
	}
}

// A handler cannot take the engine to another scheduler.
func TestAttachInsideAHandler(t *testing.T) {
	e := engine(t, Config{})
	var task Task
	var err error
	task.Init("attaches", func(*Task) Status { _, err = e.Attach(newByHand(2)); return Done }, OneShot)
	submit(t, e, &task)
	e.Poll()
	if !errors.Is(err, ErrInHandler) {
		t.Errorf("attach inside a handler: %v", err)
	}
}
