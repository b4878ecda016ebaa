package taskqueue

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/sched/topo"
)

const twelve = "numa:3 core:4 pu:1"

func machine(t *testing.T, description string) *topo.Topology {
	t.Helper()
	m, err := topo.Synthetic(description)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func variants(t *testing.T, m *topo.Topology, touch Touch) []Queues {
	t.Helper()
	all, err := All(m, touch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, q := range all {
			if err := q.Close(); err != nil {
				t.Errorf("%s: %v", q.Name(), err)
			}
		}
	})
	return all
}

// places are sets of every level, and none.
func places() []topo.CPUSet {
	return []topo.CPUSet{{}, topo.CPUs(0), topo.CPUs(5), topo.CPUs(4, 7), topo.CPUs(1, 11), topo.CPUs(99)}
}

// Every job runs once for each time it is submitted, with several submitters and a poller
// for each VP, in every place.
func TestEveryJobRunsOnce(t *testing.T) {
	const submitters = 3
	each := 300
	if testing.Short() {
		each = 50
	}
	m := machine(t, twelve)
	for _, q := range variants(t, m, nil) {
		var stop atomic.Bool
		var pollers, wg sync.WaitGroup
		for half := range 2 {
			pollers.Go(func() {
				for !stop.Load() {
					for vp := half; vp < len(m.PUs()); vp += 2 {
						q.Poll(vp)
					}
					runtime.Gosched()
				}
			})
		}
		var runs, submitted atomic.Int64
		for s := range submitters {
			wg.Go(func() {
				var jobs [8]Job
				for i := range jobs {
					jobs[i].CPUs = places()[(s+i)%len(places())]
					jobs[i].Run = func() { runs.Add(1) }
					q.Prepare(&jobs[i])
				}
				for range each {
					for i := range jobs {
						if err := q.Submit(&jobs[i]); err != nil {
							t.Errorf("%s: %v", q.Name(), err)
							return
						}
						submitted.Add(1)
					}
					for i := range jobs {
						for !q.Finished(&jobs[i]) {
							runtime.Gosched()
						}
					}
				}
			})
		}
		wg.Wait()
		stop.Store(true)
		pollers.Wait()
		if runs.Load() != submitted.Load() || runs.Load() != int64(submitters*each*8) {
			t.Errorf("%s: %d runs, %d submitted", q.Name(), runs.Load(), submitted.Load())
		}
	}
}

// Jobs of one submitter and one place run in the order in which they were submitted.
func TestOrder(t *testing.T) {
	for _, q := range variants(t, machine(t, twelve), nil) {
		var jobs [100]Job
		next := 0
		for i := range jobs {
			jobs[i].Run = func() {
				if next != i {
					t.Errorf("%s: job %d runs as number %d", q.Name(), i, next)
				}
				next++
			}
			q.Prepare(&jobs[i])
			if err := q.Submit(&jobs[i]); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			q.Poll(0)
		}
		if next != len(jobs) {
			t.Errorf("%s: %d of %d ran", q.Name(), next, len(jobs))
		}
	}
}

// A poller finds what is in its own queue, its node's and the global one; the tree's
// comes to the others by its survey only, the levels' never.
func TestWhoPollsWhat(t *testing.T) {
	m := machine(t, twelve)
	for _, q := range variants(t, m, nil) {
		for _, set := range []topo.CPUSet{topo.CPUs(5), topo.CPUs(4, 6), {}} {
			j := &Job{CPUs: set}
			q.Prepare(j)
			if err := q.Submit(j); err != nil {
				t.Fatal(err)
			}
			q.Poll(5)
			if !q.Finished(j) {
				t.Errorf("%s: a poller of CPU 5 leaves what is near %v", q.Name(), set)
			}
		}
	}
	l := NewLevels(m, nil)
	j := &Job{CPUs: topo.CPUs(5)}
	if err := l.Submit(j); err != nil {
		t.Fatal(err)
	}
	if l.Poll(6); l.Finished(j) {
		t.Error("levels: CPU 6 runs what is near 5")
	}
}

// The ring refuses what it has no room for, and goes on when it has been emptied; its
// indices pass the end many times.
func TestTheRingIsBounded(t *testing.T) {
	f := NewFIFO(nil)
	jobs := make([]Job, ringSize+1)
	for lap := range 3 {
		for i := range ringSize {
			if err := f.Submit(&jobs[i]); err != nil {
				t.Fatalf("lap %d, job %d: %v", lap, i, err)
			}
		}
		if err := f.Submit(&jobs[ringSize]); !errors.Is(err, ErrFull) {
			t.Fatalf("lap %d: a full ring says %v", lap, err)
		}
		for range ringSize / most {
			f.Poll(0)
		}
		for i := range ringSize {
			if !f.Finished(&jobs[i]) {
				t.Fatalf("lap %d: job %d did not run", lap, i)
			}
		}
	}
}

// A simulation gives the same counts every time.
func TestSimulationIsRepeatable(t *testing.T) {
	m := machine(t, twelve)
	count := func() (all []Counts) {
		sim, err := NewMachine(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range variants(t, m, sim.Touch) {
			c, err := sim.Serve(q, &Job{CPUs: topo.CPUs(1)}, 20)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		return all
	}
	a, b := count(), count()
	for i := range a {
		if a[i].Jobs != 20 || a[i].Transfers != b[i].Transfers || a[i].Failed != b[i].Failed || a[i].Rounds != b[i].Rounds {
			t.Errorf("variant %d: %+v, then %+v", i, a[i], b[i])
		}
	}
}

// What the papers found, in counts: in a tree a task of the own core moves no line of a
// queue, and a global queue's lines move for every task; and in a round of all each level of the
// tree sees about one visit per queue.
func TestCausesOfE2(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation, by one goroutine")
	}
	m := machine(t, "numa:4 l3:1 core:4 pu:1")
	sim, err := NewMachine(m)
	if err != nil {
		t.Fatal(err)
	}
	perTask := map[string]float64{}
	for _, q := range variants(t, m, sim.Touch) {
		c, err := sim.Serve(q, &Job{CPUs: topo.CPUs(0)}, 100)
		if err != nil {
			t.Fatal(err)
		}
		perTask[q.Name()] = float64(c.Transfers) / float64(c.Jobs)
		if ran := c.Ran[0]; (q.Name() == "tree (ours)" || q.Name() == "per level, spinlocks") && ran != c.Jobs {
			t.Errorf("%s: core 0 ran %d of its %d tasks", q.Name(), ran, c.Jobs)
		}
		if q.Name() != "tree (ours)" {
			continue
		}
		rounds := float64(c.Rounds) / 16
		for depth, queues := range []float64{1, 4, 16} {
			if v := float64(c.Visits[depth]) / rounds / queues; v < 0.8 || v > 1.2 {
				t.Errorf("a queue at depth %d saw %.2f visits per round of all", depth, v)
			}
		}
	}
	if perTask["tree (ours)"] > 0.1 || perTask["global spinlock"] < 10 {
		t.Errorf("transfers per task: %v", perTask)
	}
}
