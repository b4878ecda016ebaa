package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/uts"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
	"github.com/pm2-go/pm2/nmad/rma/examples/pool"
)

// treeSearch is E32, as far as it is UTS; its CG is demo nas cg.
var treeSearch = Experiment{
	Name:      "E32",
	Lasts:     60 * time.Second,
	Title:     "UTS by work stealing through one-sided access: N threads over one domain, or one each, beside N processes",
	Paper:     "IY14 fig. 8",
	Published: "with one domain CG is 5.5 times slower than processes, others up to 61 %; with all domains within 10 %",
	Iters:     10,
	Rounds:    5,
	Parts:     true,
	Pair:      true,
	Run:       runTreeSearch,
}

const kindTree = "a tree, searched by processes"

// searched is what a worker has met.
type searched struct {
	tally
	Nodes, Steals int64
}

func runTreeSearch(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		if p.Far != "" {
			return allSkipped(s, "UTS", "its processes share two cores of one host, and the ranks are "+p.Far)
		}
		tree := uts.T1.To(o.Iters)
		size := tree.Nodes
		if size == 0 {
			size = tree.Count(tree.Root())
		}
		alone := func() ([]float64, error) {
			before := asm.Cycles()
			n := tree.Count(tree.Root())
			return []float64{float64(asm.Nanos(asm.Cycles() - before))}, right(n, size)
		}
		variants := []Variant{{Name: "UTS, N = 1", Variant: "one thread, no pool", Where: "rank 0's core", Measure: alone}}
		for _, n := range []int{2, 4, 8} {
			base, name := len(variants), fmt.Sprintf("UTS, N = %d", n)
			where := "N on two cores"
			if n > 2 || p.Shared() {
				where += ": oversubscribed"
			}
			add := func(variant string, measure func() ([]searched, error)) {
				variants = append(variants, Variant{Name: name, Variant: variant, Base: base, Parameter: "N", Value: new(float64(n)), Where: where,
					Measure: func() ([]float64, error) {
						all, err := measure()
						if err != nil {
							return nil, err
						}
						return together(all, size)
					}})
			}
			add("processes", func() ([]searched, error) { return treeProcesses(ctx, p, n, o.Iters) })
			add("threads, a domain each", func() ([]searched, error) { return treeThreads(ctx, p, n, o.Iters, false) })
			add("threads, one domain", func() ([]searched, error) { return treeThreads(ctx, p, n, o.Iters, true) })
		}
		all, err := measure(ctx, o, s, variants, fmt.Sprintf("tree T1 to level %d, %d nodes, counted right in each run; a time is that of the whole search, from the first worker's begin to the last one's end", o.Iters, size))
		if err != nil || s.Plot == nil {
			return err
		}
		panel := figure.Panel{X: "threads, or processes", Y: "time of the search", Times: true}
		for i, name := range []string{"processes", "threads, a domain each", "threads, one domain"} {
			c := figure.Curve{Name: name}
			for k, n := range []int{2, 4, 8} {
				if i == 0 {
					panel.Places = append(panel.Places, fmt.Sprint(n))
				}
				c.Y = append(c.Y, all[1+3*k+i].Median)
			}
			panel.Curves = append(panel.Curves, c)
		}
		return figure.Curves(s.Plot, s.Title("UTS"), panel)
	})
}

func right(n, size int64) error {
	if n != size {
		return fmt.Errorf("%d nodes were counted of %d", n, size)
	}
	return nil
}

// together is the time of all workers, which must have met each node once.
func together(all []searched, size int64) ([]float64, error) {
	n, times := int64(0), make([]tally, len(all))
	for i, x := range all {
		n += x.Nodes
		times[i] = x.tally
	}
	return []float64{elapsed(times)}, right(n, size)
}

// treeThreads has n threads of this process search, over a domain each, or one that they share.
func treeThreads(ctx context.Context, p *duo.Pair, n, level int, one bool) (all []searched, err error) {
	c := duo.Setup{Driver: "shm", Hooked: true, CPUs: []int{p.CPUs[0]}, Free: !p.Apart, SharedCPUs: true}
	if !p.Shared() {
		c.CPUs = p.CPUs[:]
	}
	err = duo.Alone(ctx, c, func(w *duo.World) (err error) {
		s, err := nmad.Open(ctx, nmad.Config{Size: 1, Engine: w.Engine})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		all, err = searchTree(ctx, w, s, n, level, one)
		return err
	})
	return all, err
}

// treeProcesses has n processes search.
func treeProcesses(ctx context.Context, p *duo.Pair, n, level int) ([]searched, error) {
	c := duo.Setup{Driver: "shm", Hooked: true, SharedCPUs: n > 2 || p.Shared()}
	return processes[searched](ctx, p, n/2, n, duo.Order{Kind: kindTree, Setup: c, Iters: level, Count: 1})
}

// treeOther is the part of one of many processes.
func treeOther(w *duo.World, o *duo.Order) error {
	all, err := searchTree(context.Background(), w, w.Session, 1, o.Iters, false)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(all[0])
}

// searchTree has n threads of this process take part in the search of all processes of the session.
func searchTree(ctx context.Context, w *duo.World, s *nmad.Session, n, level int, one bool) ([]searched, error) {
	world, err := rma.Open(s)
	if err != nil {
		return nil, err
	}
	seg, err := world.Alloc(getOffset)
	if err != nil {
		return nil, err
	}
	p, err := pool.Open(world, pool.Config{Workers: n, TaskBytes: uts.NodeBytes})
	if err != nil {
		return nil, err
	}
	if err := meetAs(s.Rank(), world, seg); err != nil {
		return nil, err
	}
	all := make([]searched, n)
	err = threads(w, n, "worker", func(i int) error {
		x := &all[i]
		x.Began = asm.Cycles()
		err := x.search(ctx, p, world, i, level, one)
		x.Ended = asm.Cycles()
		return err
	})
	return all, errors.Join(err, p.Close(), world.Close())
}

// search is one worker's life.
func (x *searched) search(ctx context.Context, p *pool.Pool, world *rma.World, i, level int, one bool) error {
	tree, task := uts.T1.To(level), make([]byte, uts.NodeBytes)
	var w *pool.Worker
	var err error
	if one {
		w = p.Over(world.Default(), i)
	} else if w, err = p.Worker(i); err != nil {
		return err
	}
	if world.Rank() == 0 && i == 0 {
		root := tree.Root()
		root.Put(task)
		if err := w.Push(task); err != nil {
			return err
		}
		x.Nodes = 1
	}
	err = w.Run(ctx, func(of []byte) error {
		n := uts.NodeOf(of)
		for k := range tree.Children(&n) {
			child := n.Child(k)
			x.Nodes++
			if tree.Children(&child) == 0 {
				continue
			}
			child.Put(task)
			if err := w.Push(task); err != nil {
				return err
			}
		}
		return nil
	})
	x.Steals = w.Steals
	return err
}
