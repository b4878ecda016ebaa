package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/taskqueue"
	"github.com/pm2-go/pm2/sched/topo"
)

// emptyTask is E1: an empty task through each queue, timed on two cores.
var emptyTask = Experiment{
	Name:      "E1",
	Lasts:     3 * time.Second,
	Title:     "an empty task submitted by core 0: create, schedule, notice the end, per queue, two bound pollers",
	Paper:     "TD09 table I",
	Published: "4 sockets x 2 cores: per-core queues 770 to 858 ns (one 1819), per chip 1059 to 1199, global 4720",
	Iters:     20000,
	Rounds:    9,
	Parts:     true,
	Run:       runEmptyTask,
}

// onlyGlobal reports whether a way to keep queues has no queue but the global one.
func onlyGlobal(name string) bool { return strings.HasPrefix(name, "global ") }

// twoCores is the machine of two bound pollers: one VP each.
const twoCores = "core:2 pu:1"

// place is a queue by its level.
type place struct {
	name string
	cpus topo.CPUSet
}

func runEmptyTask(ctx context.Context, o Options, s *Sink) error {
	a, b, two := binding.Pair(o.CPUs)
	if !two {
		s.Skip("two bound pollers", "this process may use one CPU only")
		return s.Begin()
	}
	places := []place{{"queue of core 0", topo.CPUs(0)}, {"queue of core 1", topo.CPUs(1)}, {"global queue", topo.CPUSet{}}}
	var variants []Variant
	for k, x := range queueMakers {
		some := places
		if onlyGlobal(x.name) {
			some = places[2:]
		}
		for _, p := range some {
			variants = append(variants, Variant{
				Name: "empty task", Variant: x.name + ", " + p.name, Where: "two threads bound to a core each: one submits and polls, one polls",
				Measure: func() ([]float64, error) {
					return withQueues(k, func(q taskqueue.Queues) ([]float64, error) {
						return exchange(q, &taskqueue.Job{CPUs: p.cpus}, a, b, o.Iters)
					})
				},
			})
		}
	}
	all, err := measure(ctx, o, s, variants, "times include the thread that waits polling itself; E2 counts what a large machine would do")
	if err != nil || s.Plot == nil {
		return err
	}
	var pairs []figure.Pair
	for _, r := range all[1:] {
		pairs = append(pairs, figure.Pair{Name: r.Variant, PeerName: all[0].Variant, Ours: r.quartiles(), Peer: all[0].quartiles()})
	}
	return figure.Compare(s.Plot, s.Title("an empty task"), figure.PerOperation, figure.Sides{Ours: "the queue of the row", Peer: "one spinlock"}, pairs)
}

// causes is E2: the same on the papers' larger machine, with what makes a queue dear counted.
var causes = Experiment{
	Name:      "E2",
	Lasts:     12 * time.Second,
	Title:     "an empty task submitted by core 0 of 4 x 4: what each queue makes the caches do; simulated",
	Paper:     "TD09 table II",
	Published: "per-core queues 697 to 1867 ns, per chip 1905 to 5216, global 13585",
	Iters:     100,
	Rounds:    1,
	Run:       runCauses,
}

// sixteenCores is the machine of TD09's table II.
const sixteenCores = "numa:4 l3:1 core:4 pu:1"

// CountRow is what one queue of one variant made a simulated machine do, per task.
type CountRow struct {
	Name      string  `json:"name"`                // which queue
	Variant   string  `json:"variant"`             // of which way to keep queues
	Jobs      int     `json:"jobs"`                // that were counted
	Transfers float64 `json:"lines_moved"`         // lines that came from another core
	Shared    float64 `json:"shared_writes"`       // of these, writes that took the line from others
	Failed    float64 `json:"failed_locks"`        // looks at a lock that was held
	Word      float64 `json:"pending_word_moved"`  // moves of the engine's one word of pending requests
	Leaves    float64 `json:"visits_leaf"`         // visits that a queue of that level saw in a round of all pollers
	Middle    float64 `json:"visits_node"`         //
	Root      float64 `json:"visits_root"`         //
	Pollers   int     `json:"cores_that_ran_some"` // of the tasks
	Where     string  `json:"where"`
}

// Head implements report.Row.
func (CountRow) Head() string {
	return "# Per task: lines that moved between caches, of these writes to lines that others had, failed looks at locks; and of the\n" +
		"# engine's word of pending requests. Visits: of one queue of the level, per round of all 16 pollers.\n" +
		fmt.Sprintf("# %-42s %6s %9s %9s %9s %9s %7s %7s %7s %7s  %s", "Variant, queue", "Tasks", "Moved", "Shared wr", "Failed", "Word", "Leaf", "Node", "Root", "Cores", "Conditions")
}

// Line implements report.Row.
func (r CountRow) Line() string {
	return fmt.Sprintf("  %-42s %6d %9.2f %9.2f %9.2f %9.2f %7.2f %7.2f %7.2f %7d  %s", r.Variant+", "+r.Name, r.Jobs,
		r.Transfers, r.Shared, r.Failed, r.Word, r.Leaves, r.Middle, r.Root, r.Pollers, r.Where)
}

const simulated = "simulated: 16 pollers on " + sixteenCores + ", counts are no times"

// sixteen lists the queues of that machine.
func sixteen() (all []place) {
	for cpu := range 16 {
		all = append(all, place{fmt.Sprint("core ", cpu), topo.CPUs(cpu)})
	}
	for node := range 4 {
		all = append(all, place{fmt.Sprint("node ", node), topo.CPUs(4*node, 4*node+3)})
	}
	return append(all, place{"global", topo.CPUSet{}})
}

func runCauses(ctx context.Context, o Options, s *Sink) error {
	m, err := topo.Synthetic(sixteenCores)
	if err != nil {
		return err
	}
	places := sixteen()
	if err := s.Begin("the code of each queue runs in a machine whose cores are coroutines; a variant with one queue has the same row for all"); err != nil {
		return err
	}
	moved := figure.Panel{X: "queue: cores 0 to 15, nodes, global", Y: "lines moved per task"}
	failed := figure.Panel{X: moved.X, Y: "failed looks at a lock per task"}
	for i := range places {
		label := "all"
		if i < 16 {
			label = fmt.Sprint(i)
		} else if i < 20 {
			label = fmt.Sprint("n", i-16)
		}
		moved.Places, failed.Places = append(moved.Places, label), append(failed.Places, label)
	}
	err = eachSimulated(m, func(sim *taskqueue.Machine, q taskqueue.Queues, done, of int) error {
		s.Label(q.Name())
		whereTo := places
		one := onlyGlobal(q.Name())
		if one {
			whereTo = places[len(places)-1:]
		}
		lines, fails := figure.Curve{Name: q.Name(), Dashed: one}, figure.Curve{Name: q.Name(), Dashed: one}
		for i, p := range whereTo {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			c, err := sim.Serve(q, &taskqueue.Job{CPUs: p.cpus}, o.Iters)
			if err != nil {
				return err
			}
			row := countRow(q.Name(), p.name, &c)
			if err := s.Row(row); err != nil {
				return err
			}
			for range len(places) / len(whereTo) {
				lines.Y, fails.Y = append(lines.Y, row.Transfers), append(fails.Y, row.Failed)
			}
			s.Step(done*len(places)+(i+1)*len(places)/len(whereTo), of*len(places))
		}
		moved.Curves, failed.Curves = append(moved.Curves, lines), append(failed.Curves, fails)
		return nil
	})
	if err != nil || s.Plot == nil {
		return err
	}
	moved.Zero, failed.Zero = true, true
	return figure.Curves(s.Plot, s.Title("simulated "+sixteenCores+", 16 pollers"), moved, failed)
}

// eachSimulated makes every variant for a simulated machine and calls f for each.
func eachSimulated(m *topo.Topology, f func(sim *taskqueue.Machine, q taskqueue.Queues, done, of int) error) (err error) {
	sim, err := taskqueue.NewMachine(m)
	if err != nil {
		return err
	}
	all, err := taskqueue.All(m, sim.Touch)
	if err != nil {
		return err
	}
	for i, q := range all {
		if err == nil {
			err = f(sim, q, i, len(all))
		}
		if e := q.Close(); err == nil {
			err = e
		}
	}
	return err
}

func countRow(variant, name string, c *taskqueue.Counts) CountRow {
	jobs, rounds := float64(max(c.Jobs, 1)), float64(max(c.Rounds, 1))/16
	per := func(n int) float64 { return report.Round(float64(n) / jobs) }
	visits := func(depth, queues int) float64 {
		return report.Round(float64(c.Visits[depth]) / rounds / float64(queues))
	}
	return CountRow{
		Name: name, Variant: variant, Jobs: c.Jobs,
		Transfers: per(c.Transfers), Shared: per(c.Shared), Failed: per(c.Failed), Word: per(c.Word),
		Leaves: visits(2, 16), Middle: visits(1, 4), Root: visits(0, 1), Pollers: len(c.Ran), Where: simulated,
	}
}
