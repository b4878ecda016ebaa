package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/taskqueue"
	"github.com/pm2-go/pm2/sched/topo"
)

// whoRuns is E3: which cores run the tasks of a queue that several poll.
var whoRuns = Experiment{
	Name:      "E3",
	Lasts:     24 * time.Second,
	Title:     "which core runs the tasks of a chip's queue and of the global queue, submitted by core 0",
	Paper:     "TD09 section V",
	Published: "chip: about 25 % by each of its cores; global: unbalanced, towards the submitter's chip",
	Iters:     400,
	Rounds:    5,
	Run:       runWhoRuns,
}

// ShareRow is how many of a queue's tasks one core ran.
type ShareRow struct {
	Name    string  `json:"name"`    // which queue
	Variant string  `json:"variant"` // of which way to keep queues
	Core    int     `json:"core"`
	Jobs    int     `json:"jobs"` // all that were counted
	Ran     int     `json:"ran"`  // of these, by this core
	Percent float64 `json:"percent"`
	Even    float64 `json:"even_percent"` // if all cores that poll the queue ran the same number
	Where   string  `json:"where"`
}

// Head implements report.Row.
func (ShareRow) Head() string {
	return "# Share: of the queue's tasks that the core ran; even: if all that poll it ran the same number.\n" +
		fmt.Sprintf("# %-44s %5s %7s %7s %9s %8s  %s", "Variant, queue", "Core", "Tasks", "Ran", "Share %", "Even %", "Conditions")
}

// Line implements report.Row.
func (r ShareRow) Line() string {
	return fmt.Sprintf("  %-44s %5d %7d %7d %9.1f %8.1f  %s", r.Variant+", "+r.Name, r.Core, r.Jobs, r.Ran, r.Percent, r.Even, r.Where)
}

func runWhoRuns(ctx context.Context, o Options, s *Sink) error {
	if err := s.Begin("each task is submitted when the one before has ended; the submitter polls like the others"); err != nil {
		return err
	}
	if a, b, two := binding.Pair(o.CPUs); two {
		if err := whoRunsHere(ctx, o, s, a, b); err != nil {
			return err
		}
	} else {
		s.Skip("two bound pollers", "this process may use one CPU only")
	}
	m, err := topo.Synthetic(sixteenCores)
	if err != nil {
		return err
	}
	var cores []string
	for core := range 16 {
		cores = append(cores, fmt.Sprint(core))
	}
	panels := []figure.Panel{
		{X: "core; tasks of node 1's queue, simulated", Y: "share of the tasks (%)", Places: cores, Zero: true},
		{X: "core; tasks of the global queue, simulated", Y: "share of the tasks (%)", Places: cores, Zero: true},
	}
	err = eachSimulated(m, func(sim *taskqueue.Machine, q taskqueue.Queues, done, of int) error {
		s.Label(q.Name())
		for i, p := range []place{{"node 1", topo.CPUs(4, 7)}, {"global", topo.CPUSet{}}} {
			if i == 0 && onlyGlobal(q.Name()) {
				continue // there is no such queue
			}
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			c, err := sim.Serve(q, &taskqueue.Job{CPUs: p.cpus}, o.Iters)
			if err != nil {
				return err
			}
			curve := figure.Curve{Name: q.Name()}
			for core := range 16 {
				r := share(q.Name(), p.name, core, c.Ran[core], c.Jobs, 16, simulated)
				if i == 0 {
					if r.Even = 25; core/4 != 1 {
						r.Even = 0
					}
				}
				if err := s.Row(r); err != nil {
					return err
				}
				curve.Y = append(curve.Y, r.Percent)
			}
			panels[i].Curves = append(panels[i].Curves, curve)
		}
		s.Step(o.Rounds+done+1, o.Rounds+of)
		return nil
	})
	if err != nil || s.Plot == nil {
		return err
	}
	return figure.Curves(s.Plot, s.Title("which core runs the tasks, "+sixteenCores), panels...)
}

// whoRunsHere asks the two cores of this machine.
func whoRunsHere(ctx context.Context, o Options, s *Sink, a, b int) error {
	m, err := topo.Synthetic(twoCores)
	if err != nil {
		return err
	}
	all, err := taskqueue.All(m, nil)
	if err != nil {
		return err
	}
	for _, q := range all {
		s.Label(q.Name())
		ran, jobs := [2]int{}, 0
		for round := range o.Rounds {
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				break
			}
			j := &taskqueue.Job{Run: func() {
				if asm.CPU() == a {
					ran[0]++
				} else {
					ran[1]++
				}
			}}
			n := 100 * o.Iters
			_, err = exchange(q, j, a, b, n)
			jobs += warmup(n) + n
			s.Step(round+1, o.Rounds+4)
		}
		if e := q.Close(); err == nil {
			err = e
		}
		for core := range ran {
			if err == nil {
				err = s.Row(share(q.Name(), "global", core, ran[core], jobs, 2, "two threads bound to a core each, as in E1"))
			}
		}
	}
	return err
}

func share(variant, name string, core, ran, jobs, of int, where string) ShareRow {
	return ShareRow{
		Name: name, Variant: variant, Core: core, Jobs: jobs, Ran: ran,
		Percent: report.Round(100 * float64(ran) / float64(max(jobs, 1))), Even: report.Round(100 / float64(of)), Where: where,
	}
}
