package pioman

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/pm2-go/pm2/sched/topo"
)

// Words that different cores write are at least two cache lines apart.
func TestWordsKeepTheirDistance(t *testing.T) {
	apart := func(what string, a, b uintptr) {
		if b < a+line {
			t.Errorf("%s: %d and %d are less than %d bytes apart", what, a, b, line)
		}
	}
	var q Queue
	apart("queue: header, submissions", unsafe.Offsetof(q.engine), unsafe.Offsetof(q.submitted))
	apart("queue: submissions, lock", unsafe.Offsetof(q.submitted), unsafe.Offsetof(q.holder))
	apart("queue: lock, main list", unsafe.Offsetof(q.count), unsafe.Offsetof(q.head))
	apart("queue: main list, neighbor", unsafe.Offsetof(q.size), unsafe.Sizeof(q))
	var e Engine
	apart("engine: load, constants", unsafe.Offsetof(e.load), unsafe.Offsetof(e.config))
	apart("engine: flags, sleeper", unsafe.Offsetof(e.blind), unsafe.Offsetof(e.sleeper))
	var tr taskTree
	apart("tree: shape, survey", unsafe.Offsetof(tr.visitors), unsafe.Offsetof(tr.surveyed))
	if end := unsafe.Sizeof(tr); end < unsafe.Offsetof(tr.surveyed)+line {
		t.Errorf("tree: %d bytes, its survey ends less than %d bytes before", end, line)
	}
	var n taskNode
	apart("node: shape, survey", unsafe.Offsetof(n.others), unsafe.Offsetof(n.share))
	apart("node: survey, neighbor", unsafe.Offsetof(n.share), unsafe.Sizeof(n))
	var w visitor
	apart("visitor: neighbor", unsafe.Offsetof(w.rounds), unsafe.Sizeof(w))
	var v vpState
	if unsafe.Sizeof(v) < line {
		t.Errorf("vpState is %d bytes long, less than %d", unsafe.Sizeof(v), line)
	}
	var p parker
	if unsafe.Sizeof(p) < line {
		t.Errorf("parker is %d bytes long, less than %d", unsafe.Sizeof(p), line)
	}
}

func TestRoundPollsEachTaskOnce(t *testing.T) {
	e := engine(t, Config{})
	const n = 5
	var polls [n]int
	var tasks [n]Task
	for i := range tasks {
		tasks[i].Init("poll", func(*Task) Status { polls[i]++; return Again }, Repeat)
		submit(t, e, &tasks[i])
	}
	for round := 1; round <= 10; round++ {
		e.Poll()
		for i, p := range polls {
			if p != round {
				t.Fatalf("after %d rounds task %d was polled %d times", round, i, p)
			}
		}
	}
}

// pollForever submits n tasks that are polled for ever, and returns where their numbers are written down, in the order
// of the polls.
func pollForever(t *testing.T, e *Engine, n int) (order *[]int) {
	t.Helper()
	order = new([]int)
	tasks := make([]Task, n)
	for i := range tasks {
		tasks[i].Init("poll", func(*Task) Status { *order = append(*order, i); return Again }, Repeat)
		submit(t, e, &tasks[i])
	}
	return order
}

// No task is always the last one of a round: over as many rounds as there are tasks each one has each place once, also
// where the bound of a round is just as many. OneShot tasks that have to wait stay in the order in which they came.
func TestRoundsBeginInTurn(t *testing.T) {
	const n = 5
	for _, budget := range []int{n, 64} {
		e := engine(t, Config{Params: tuned(func(p *Params) { p.round = budget })})
		order := pollForever(t, e, n)
		var places [n][n]int
		for range n {
			*order = (*order)[:0]
			e.Poll()
			if len(*order) != n {
				t.Fatalf("budget %d: a round of %v", budget, *order)
			}
			for place, i := range *order {
				places[i][place]++
			}
		}
		for i, of := range places {
			if of != [n]int{1, 1, 1, 1, 1} {
				t.Errorf("budget %d: task %d was so often at each place: %v", budget, i, of)
			}
		}
	}
}

// A round is bounded; the next one goes on where it stopped, so none starves.
func TestRoundIsBoundedAndFair(t *testing.T) {
	const n, budget = 10, 4
	e := engine(t, Config{Params: tuned(func(p *Params) { p.round = budget })})
	order := pollForever(t, e, n)
	for round := 1; round <= 5; round++ {
		e.Poll()
		if len(*order) != round*budget {
			t.Fatalf("%d handlers ran in %d rounds of %d", len(*order), round, budget)
		}
	}
	for i, x := range *order {
		if x != i%n {
			t.Fatalf("order %v", *order)
		}
	}
}

func TestSubmittedInsideAHandlerRunsInTheNextRound(t *testing.T) {
	e := engine(t, Config{})
	var outer, inner Task
	ran := []string{}
	inner.Init("inner", func(*Task) Status { ran = append(ran, "inner"); return Done }, OneShot)
	outer.Init("outer", func(*Task) Status {
		ran = append(ran, "outer")
		submit(t, e, &inner)
		return Done
	}, OneShot)
	submit(t, e, &outer)
	e.Poll()
	if !slices.Equal(ran, []string{"outer"}) {
		t.Fatalf("first round: %v", ran)
	}
	e.Poll()
	if !slices.Equal(ran, []string{"outer", "inner"}) {
		t.Fatalf("second round: %v", ran)
	}
	if n := e.Pending(); n != 0 {
		t.Fatalf("%d pending at the end", n)
	}
}

// Poll from inside a handler finds the queue held and does nothing.
func TestPollInsideAHandlerIsSkipped(t *testing.T) {
	e := engine(t, Config{})
	var a, b Task
	runs := 0
	a.Init("a", func(*Task) Status { e.Poll(); return Again }, Repeat)
	b.Init("b", func(*Task) Status { runs++; return Again }, Repeat)
	submit(t, e, &a)
	submit(t, e, &b)
	e.Poll()
	if runs != 1 {
		t.Fatalf("b ran %d times in one round", runs)
	}
}

// A random life of several tasks, beside a model that knows what each may be.
func TestQueueAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New(Config{Params: tuned(func(p *Params) { p.round = 3 })})
		defer e.Close()
		const n = 6
		type mirror struct {
			linked bool
			end    bool // its handler will return Done
		}
		var tasks [n]Task
		var model [n]mirror
		var queue []int // the linked ones in the order in which they will be polled
		var polled []int
		inside := map[int]int{} // task whose handler is to cancel another one
		for i := range tasks {
			opt := OneShot
			if i%2 == 0 {
				opt = Repeat
			}
			tasks[i].Init(fmt.Sprint(i), func(*Task) Status {
				polled = append(polled, i)
				if other, ok := inside[i]; ok {
					delete(inside, i)
					if err := tasks[other].Cancel(); (err != nil) != (other == i) {
						t.Errorf("%d cancels %d: %v", i, other, err)
					}
				}
				if model[i].end {
					return Done
				}
				return Again
			}, opt)
		}
		pick := func(t *rapid.T) int { return rapid.IntRange(0, n-1).Draw(t, "task") }
		unlink := func(i int) {
			model[i].linked = false
			queue = slices.DeleteFunc(queue, func(x int) bool { return x == i })
		}
		t.Repeat(map[string]func(*rapid.T){
			"submit": func(t *rapid.T) {
				i := pick(t)
				if err := e.Submit(&tasks[i]); errors.Is(err, ErrScheduled) != model[i].linked {
					t.Fatalf("submit %d, linked %v: %v", i, model[i].linked, err)
				}
				if !model[i].linked {
					model[i].linked, model[i].end = true, false
					queue = append(queue, i)
				}
			},
			"cancel": func(t *rapid.T) {
				i := pick(t)
				if err := tasks[i].Cancel(); err != nil {
					t.Fatal(err)
				}
				if model[i].linked && tasks[i].State() != StateCanceled {
					t.Fatalf("canceled task %d is %v", i, tasks[i].State())
				}
				unlink(i)
			},
			"let it end":                      func(t *rapid.T) { model[pick(t)].end = true },
			"let it cancel":                   func(t *rapid.T) { inside[pick(t)] = pick(t) },
			"initialize one that is inactive": func(t *rapid.T) { i := pick(t); tasks[i].SetCPUs(topo.CPUs(0)) },
			"poll": func(t *rapid.T) {
				polled = nil
				plans := map[int]int{}
				for k, v := range inside {
					plans[k] = v
				}
				e.Poll()
				var want []int
				seen := map[int]bool{}
				for budget := 3; budget > 0 && len(queue) > 0 && !seen[queue[0]]; budget-- {
					i := queue[0]
					seen[i] = true
					want = append(want, i)
					if other, ok := plans[i]; ok {
						delete(plans, i)
						if other != i {
							unlink(other)
						}
					}
					queue = queue[1:]
					if model[i].end || i%2 != 0 {
						model[i].linked = false
					} else {
						queue = append(queue, i)
					}
				}
				if len(queue) > 0 && seen[queue[0]] && queue[0]%2 == 0 { // all have had their turn: another one begins
					queue = append(queue[1:], queue[0])
				}
				if !slices.Equal(polled, want) {
					t.Fatalf("polled %v, want %v", polled, want)
				}
			},
			"": func(t *rapid.T) {
				waiting := 0
				for i := range tasks {
					if tasks[i].State().Inactive() == model[i].linked {
						t.Fatalf("task %d is %v, linked %v", i, tasks[i].State(), model[i].linked)
					}
					if model[i].linked && i%2 != 0 {
						waiting++
					}
				}
				if n := e.Pending(); n != min(waiting, 1) {
					t.Fatalf("%d pending with %d tasks to run", n, waiting)
				}
			},
		})
	})
}
