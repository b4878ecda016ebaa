package pioman

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/test/effort"
)

// oneShots makes OneShot tasks that note in order that they ran.
func oneShots(n, from int, order *[]int) []Task {
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i].Init("shot", func(*Task) Status { *order = append(*order, from+i); return Done }, OneShot)
	}
	return tasks
}

func submitAll(t testing.TB, e *Engine, tasks []Task) {
	t.Helper()
	for i := range tasks {
		submit(t, e, &tasks[i])
	}
}

// The mark of a flood lasts until a drain brings few; it counts for no task.
func TestFloodEnds(t *testing.T) {
	e := engine(t, Config{})
	q := e.root
	var order []int
	many := oneShots(flood, 0, &order)
	few := oneShots(flood-1, 0, &order)
	state := func(when string, flooded, nothing bool) {
		t.Helper()
		if q.flooded != flooded || q.nothing() != nothing || e.tasks() || q.length() != 0 {
			t.Fatalf("%s: flooded %v, want %v; nothing %v, want %v; tasks %v; length %d", when, q.flooded, flooded, q.nothing(), nothing, e.tasks(), q.length())
		}
	}
	submitAll(t, e, few)
	e.Poll()
	state("after a few", false, true)
	submitAll(t, e, many)
	e.Poll()
	state("after many", true, false)
	e.Poll() // in vain
	state("after a round in vain", false, true)
	submitAll(t, e, many)
	e.Poll()
	submitAll(t, e, few)
	e.Poll()
	state("after a few again", false, true)
	if len(order) != 2*len(many)+2*len(few) {
		t.Fatalf("%d ran", len(order))
	}
}

// Floods at full speed: each submitter's tasks run in the order of their submission, each as often as it was
// submitted, and nothing is left.
func TestFloodsAtFullSpeed(t *testing.T) {
	const submitters, each = 3, 64
	e := engine(t, Config{Params: tuned(func(p *Params) { p.round = 16 })})
	var left atomic.Int32
	left.Store(submitters)
	var all sync.WaitGroup
	lives := effort.Of(60_000)
	for range submitters {
		tasks, done := make([]Task, each), make([]Completion, each)
		ran := 0 // under the queue's lock
		for i := range tasks {
			tasks[i].Init("flood", func(*Task) Status {
				if ran%each != i {
					t.Errorf("task %d ran in the place of %d", i, ran%each)
				}
				ran++
				return Done
			}, OneShot)
		}
		all.Go(func() {
			defer left.Add(-1)
			for n := range lives {
				i := n % each
				for j := 0; n >= each && !done[i].Test(1); j++ {
					relax(j, true)
				}
				done[i].Reset()
				tasks[i].Notify(&done[i], 1)
				submit(t, e, &tasks[i])
			}
			for n := max(lives-each, 0); n < lives; n++ {
				for j := 0; !done[n%each].Test(1); j++ {
					relax(j, true)
				}
			}
			if ran != lives {
				t.Errorf("%d ran of %d", ran, lives)
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for left.Load() > 0 {
				e.Poll()
				asm.Pause()
			}
		})
	}
	finishes(t, "floods", all.Wait)
	if n := e.Pending(); n != 0 {
		t.Errorf("%d pending", n)
	}
}
