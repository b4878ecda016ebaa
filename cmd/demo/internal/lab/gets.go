package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/rma"
)

// domainCount is E28: threads of one process that get from another one, over some domains, beside as many processes.
var domainCount = Experiment{
	Name:      "E28",
	Lasts:     60 * time.Second,
	Title:     "one-sided gets of N threads over 1 to N domains, beside N processes on the same cores",
	Paper:     "IY14 fig. 5",
	Published: "gets improve with each domain, at 8 B up to 31.5 times, at 2 KB 14.6 times; with a domain for each thread within 8 % of processes",
	Iters:     5000000,
	Rounds:    5,
	Parts:     true,
	Pair:      true,
	Run:       runDomainCount,
}

const (
	kindGets    = "one-sided gets"
	kindGetting = "one-sided gets, one of many processes"
	mostGets    = 8 // threads, or processes
	getOffset   = 4096
	startWord   = 0 // of each part: how many have come, at rank 0
	goWord      = 64
)

// getSizes are what E28 and E31 get, and the share of the iterations that it has.
var getSizes = []struct{ size, share int }{{8, 1}, {2 << 10, 5}, {128 << 10, 1000}}

func runDomainCount(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		if p.Far != "" {
			return allSkipped(s, "gets", "the memory is reached by loads, and the ranks are "+p.Far)
		}
		where := "one process with a VP on each core that its threads share, or as many processes; the process that has the memory sleeps"
		if p.Shared() {
			where += "; oversubscribed: one CPU"
		}
		var variants []Variant
		var panels []figure.Panel
		for _, x := range getSizes {
			iters := max(o.Iters/x.share, 8)
			for _, n := range powers(mostGets) {
				base, name := len(variants), fmt.Sprintf("get, %s, N = %d", size.Format(x.size), n)
				variants = append(variants, Variant{Name: name, Variant: "processes", Base: base, Parameter: "domains", Where: where,
					Measure: func() ([]float64, error) { return getProcesses(ctx, p, x.size, n, iters) }})
				for _, domains := range powers(n) {
					value := float64(domains)
					variants = append(variants, Variant{Name: name, Variant: "threads", Base: base, Parameter: "domains", Value: &value, Where: where,
						Measure: func() ([]float64, error) { return getThreads(ctx, p, x.size, n, domains, iters) }})
				}
			}
		}
		gets := len(variants)
		for _, x := range getSizes[:2] {
			iters := max(o.Iters/100/x.share, 8)
			base, name := len(variants), fmt.Sprintf("messages, %s, N = %d", size.Format(x.size), mostGets)
			add := func(variant string, value *float64, measure func() (crowdSample, error)) {
				variants = append(variants, Variant{Name: name, Variant: variant, Base: base, Parameter: "domains", Value: value,
					Where: "half an exchange as in E27, a core for either side", Measure: func() ([]float64, error) {
						x, err := measure()
						return []float64{x.paced()}, err
					}})
			}
			add("processes", nil, func() (crowdSample, error) {
				return exchangeProcesses(ctx, p, duo.Setup{Hooked: true}, x.size, mostGets, iters)
			})
			for _, domains := range powers(mostGets) {
				value, kind := float64(domains), kindDomains
				if domains == mostGets {
					kind = kindPrivate
				}
				add("threads", &value, func() (crowdSample, error) {
					return exchangeOver(kind, domains)(ctx, p, duo.Setup{Hooked: true}, x.size, mostGets, iters)
				})
			}
		}
		all, err := measure(ctx, o, s, variants, "a time is what one takes if all threads, or processes, advance alike; a sample is a round",
			"a domain of several threads is shared (of messages: serialized), that of one private")
		if err != nil || s.Plot == nil {
			return err
		}
		for i, x := range getSizes {
			each := gets / len(getSizes)
			panels = append(panels, getPanel(all[i*each:(i+1)*each], size.Format(x.size)))
		}
		return figure.Curves(s.Plot, s.Title("gets over domains"), panels...)
	})
}

// getPanel draws a curve for each number of threads, with that of processes as its first place.
func getPanel(rows []Row, what string) figure.Panel {
	p := figure.Panel{X: "domains; " + what, Y: "time of a get if all advance alike", Times: true}
	places := []string{"processes"}
	for _, d := range powers(mostGets) {
		places = append(places, fmt.Sprint(d))
	}
	p.Places = places
	for _, r := range rows {
		if r.Value == nil {
			p.Curves = append(p.Curves, figure.Curve{Name: r.Name[len("get, "+what+", "):], Y: []float64{positiveOr(r.Median)}})
			continue
		}
		c := &p.Curves[len(p.Curves)-1]
		c.Y = append(c.Y, positiveOr(r.Median))
	}
	for i := range p.Curves {
		for len(p.Curves[i].Y) < len(places) {
			p.Curves[i].Y = append(p.Curves[i].Y, positiveOr(0))
		}
	}
	return p
}

// getThreads has n threads of rank 0 get from rank 1, over so many domains.
func getThreads(ctx context.Context, p *duo.Pair, size, n, domains, iters int) (ns []float64, err error) {
	mine, theirs := setups(p, duo.Setup{Driver: "shm", Hooked: true})
	if !p.Shared() {
		mine.CPUs = []int{p.CPUs[0], p.CPUs[1]}
		mine.SharedCPUs, theirs.SharedCPUs = true, true
	}
	o := duo.Order{Kind: kindGets, Setup: theirs, Iters: iters, Size: size, Count: n, Domains: domains}
	err = p.Do(ctx, o, mine, func(w *duo.World) error {
		t, err := getAll(w, &o, n)
		ns = []float64{float64(asm.Nanos(t.Ended-t.Began)) / float64(max(iters/n, 1))}
		return err
	})
	return ns, err
}

// getProcesses has n processes get from others.
func getProcesses(ctx context.Context, p *duo.Pair, size, n, iters int) ([]float64, error) {
	c := duo.Setup{Driver: "shm", Hooked: true, SharedCPUs: n > 2 || p.Shared()}
	all, err := processes[tally](ctx, p, max(n/2, 1), n, duo.Order{Kind: kindGetting, Setup: c, Iters: max(iters/n, 1), Size: size, Count: 1, Domains: n})
	if err != nil {
		return nil, err
	}
	return []float64{elapsed(all) / float64(max(iters/n, 1))}, nil
}

// getsOther is the part of a process that another one has told so: rank 1, or one of many, of which the first Domains
// get.
func getsOther(w *duo.World, o *duo.Order) error {
	n := 0
	if o.Kind == kindGetting && w.Session.Rank() < o.Domains {
		n = 1
	}
	t, err := getAll(w, o, n)
	if err != nil || n == 0 {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(t)
}

// getAll has n threads get from the process that the gate leads to; all processes of the session call it.
func getAll(w *duo.World, o *duo.Order, n int) (t tally, err error) {
	world, err := rma.Open(w.Session)
	if err != nil {
		return t, err
	}
	seg, err := world.Alloc(getOffset + mostGets*max(o.Size, getOffset))
	if err != nil {
		return t, err
	}
	if err := meet(w, world, seg); err != nil {
		return t, err
	}
	if n > 0 {
		t, err = getOver(w, o, world, seg, n)
	}
	return t, errors.Join(err, world.Close())
}

// meet returns once all processes of the session have come.
func meet(w *duo.World, world *rma.World, seg *rma.Segment) error {
	return meetAs(w.Session.Rank(), world, seg)
}

func meetAs(me int, world *rma.World, seg *rma.Segment) error {
	d, ctx, size := world.Default(), context.Background(), world.Size()
	if err := d.PutSignal(seg.At(0, startWord), nil, seg.At(0, startWord), rma.SignalAdd, 1); err != nil {
		return err
	}
	if world.Rank() == 0 {
		if _, err := d.WaitSignal(ctx, seg.At(0, startWord), rma.GE, uint64(size)); err != nil {
			return err
		}
		for rank := range size {
			if err := d.PutSignal(seg.At(rank, goWord), nil, seg.At(rank, goWord), rma.SignalSet, 1); err != nil {
				return err
			}
		}
	}
	_, err := d.WaitSignal(ctx, seg.At(me, goWord), rma.GE, 1)
	return err
}

// getOver is the threads, which share the iterations and the domains.
func getOver(w *duo.World, o *duo.Order, world *rma.World, seg *rma.Segment, n int) (t tally, err error) {
	domains := make([]*rma.Domain, min(max(o.Domains, 1), n))
	private := len(domains) == n
	for i := range domains {
		if domains[i], err = world.Domain(rma.DomainConfig{}); err != nil {
			return t, err
		}
	}
	iters, warm := max(o.Iters/n, 1), marcel.NewBarrier(n)
	began, ended := make([]int64, n), make([]int64, n)
	err = threads(w, n, "getter", func(k int) (err error) {
		d, buf := domains[k%len(domains)], make([]byte, o.Size)
		at := seg.At(w.Gate.Rank(), uint64(getOffset+k*max(o.Size, getOffset)))
		if private {
			d, err = world.Domain(rma.DomainConfig{Access: nmad.Private})
		}
		for range warmup(iters) {
			if err == nil {
				err = d.Get(buf, at)
			}
		}
		warm.Wait()
		began[k] = asm.Cycles()
		for i := 0; i < iters && err == nil; i++ {
			err = d.Get(buf, at)
		}
		ended[k] = asm.Cycles()
		return err
	})
	return tally{Began: slices.Min(began), Ended: slices.Max(ended)}, err
}
