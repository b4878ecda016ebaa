package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/bench"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

// benchParameters are what the JSON says about a run of bench.
type benchParameters struct {
	Reps int    `json:"reps"`
	Time string `json:"time"`
	Rows string `json:"rows,omitempty"`
}

// run measures the rows one after the other.
func (c *benchCommand) run(ctx context.Context) (err error) {
	if c.List {
		_, err := fmt.Println(strings.Join(bench.Names(c.rows), "\n"))
		return err
	}
	s, err := c.output.newSheet("bench", benchParameters{c.Reps, c.Time.String(), string(c.Rows)}, int64(len(c.rows)))
	if err != nil {
		return err
	}
	defer s.bar.Done()
	cpus := binding.Allowed()
	s.report.Machine = report.Detect(len(cpus), startProbe(cpus))
	if err := s.writer.Begin(&s.report, "threads on bound VPs, engine hooked and nothing pending, beside goroutines under GOMAXPROCS=P"); err != nil {
		return err
	}
	var pairs []figure.Pair
	for rest := c.rows; len(rest) > 0; {
		s.bar.Label(rest[0].Name)
		outcomes, err := bench.Measure(ctx, rest, bench.Options{Reps: c.Reps, Time: c.Time, CPUs: cpus})
		if err != nil {
			return err
		}
		rest = rest[len(outcomes):]
		s.bar.Add(int64(len(outcomes)))
		for _, outcome := range outcomes {
			if outcome.Row == nil {
				s.report.Skipped = append(s.report.Skipped, outcome.Skip)
				continue
			}
			if err := s.row(outcome.Row); err != nil {
				return err
			}
			pairs = append(pairs, pair(outcome.Row))
		}
	}
	for _, name := range c.heavy {
		s.report.Skipped = append(s.report.Skipped, report.Skip{Name: name, Why: "it takes long, some also much memory: ask for it with --rows"})
	}
	if err := s.end(); err != nil {
		return err
	}
	if c.output.figure == nil {
		return nil
	}
	if len(pairs) == 0 {
		return errors.New("no figure was drawn: every row was skipped")
	}
	return figure.Compare(c.output.figure, "demo bench: ours beside goroutines, "+s.report.Machine.CPU, figure.PerOperation, figure.OursBesidePeer, pairs)
}

func pair(r *bench.Row) figure.Pair {
	return figure.Pair{
		Name: r.Name, PeerName: r.Peer,
		Ours: figure.Measure{Q1: r.OursQ1, Median: r.Ours, Q3: r.OursQ3},
		Peer: figure.Measure{Q1: *r.PeerQ1, Median: *r.PeerNS, Q3: *r.PeerQ3},
	}
}

// startProbe measures core to core before anything else runs: 0 with one CPU. Why it cannot be measured is worth a
// note.
func startProbe(cpus []int) float64 {
	a, b, two := binding.Pair(cpus)
	if !two {
		warn("one CPU only: rows that need two are skipped")
		return 0
	}
	if err := binding.Permitted(); err != nil {
		warn("the kernel forbids to bind threads to CPUs (%v): rows that cross cores are skipped", err)
		return 0
	}
	ns, err := probe.Measure(a, b)
	if err != nil {
		warn("%v", err)
		return 0
	}
	return ns
}
