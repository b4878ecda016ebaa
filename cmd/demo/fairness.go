package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/fairness"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

type fairnessCommand struct {
	CPUBound []int `name:"cpu-bound" default:"0,1,4,32" help:"Numbers of threads that never yield, each 0 to 256."`
	Wakes    int   `default:"1000" help:"Delays of each row: 100 to 100000, one a millisecond."`
	output
}

// Help is the long text of --help.
func (*fairnessCommand) Help() string {
	return "Threads that compute and never yield share the CPU of one VP with another thread. First a goroutine wakes that thread once a millisecond, " +
		"then the thread sleeps for a millisecond again and again: how late does it run? This is measured with the kernel's slices as the scheduler sets them, with " +
		"those that the kernel has by default, and with goroutines in place of threads. Other programs on the machine make the figures worse.\n\n" +
		"Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

// Validate implements kong's check after parsing.
func (c *fairnessCommand) Validate() error {
	for _, n := range c.CPUBound {
		if n < 0 || n > 256 {
			return fmt.Errorf("--cpu-bound %d: choose from 0 to 256", n)
		}
	}
	if c.Wakes < 100 || c.Wakes > 100_000 {
		return fmt.Errorf("--wakes %d: choose from 100 to 100000", c.Wakes)
	}
	return c.output.Validate()
}

// cases are all that is measured.
func (c *fairnessCommand) cases() (cases []fairness.Case) {
	for _, n := range c.CPUBound {
		cases = append(cases, fairness.Case{CPUBound: n, Slices: true}, fairness.Case{CPUBound: n}, fairness.Case{CPUBound: n, Peer: true})
	}
	return cases
}

// fairnessParameters are what the JSON says about a run of fairness.
type fairnessParameters struct {
	CPUBound []int `json:"cpu_bound"`
	Wakes    int   `json:"wakes"`
}

func (c *fairnessCommand) run(ctx context.Context) error {
	cases := c.cases()
	s, err := c.newSheet("fairness", fairnessParameters{c.CPUBound, c.Wakes}, int64(len(cases)))
	if err != nil {
		return err
	}
	defer s.bar.Done()
	cpus := binding.Allowed()
	s.report.Machine = report.Detect(len(cpus), startProbe(cpus))
	if err := s.writer.Begin(&s.report, "delay of a thread on one VP whose CPU it shares with CPU-bound threads; one wake a millisecond"); err != nil {
		return err
	}
	var wakeRows, sleepRows []*fairness.Row
	for _, x := range cases {
		s.bar.Label(cpuBound(x.CPUBound))
		wakes, sleeps, err := x.Measure(ctx, cpus[0], c.Wakes)
		if err != nil {
			return err
		}
		wake, sleep := fairness.NewRow(x, "wake", wakes), fairness.NewRow(x, "sleep", sleeps)
		if err := errors.Join(s.row(wake), s.row(sleep)); err != nil {
			return err
		}
		wakeRows, sleepRows = append(wakeRows, wake), append(sleepRows, sleep)
		s.bar.Add(1)
	}
	if err := s.end(); err != nil || c.figure == nil {
		return err
	}
	return figure.Compare(c.figure, "demo fairness: threads beside goroutines, "+s.report.Machine.CPU,
		"delay: median, 99th percentile, longest", figure.OursBesidePeer, append(c.pairs("woken", wakeRows), c.pairs("slept 1 ms", sleepRows)...))
}

// pairs are the rows of each number of CPU-bound threads: threads, with short kernel slices, beside goroutines.
func (c *fairnessCommand) pairs(what string, rows []*fairness.Row) (pairs []figure.Pair) {
	measure := func(r *fairness.Row) figure.Measure { return figure.Measure{Q1: r.Median, Median: r.P99, Q3: r.Max} }
	for i := 0; i+2 < len(rows); i += 3 { // as cases has them
		pairs = append(pairs, figure.Pair{
			Name: fmt.Sprintf("%s, %s", what, cpuBound(rows[i].CPUBound)), PeerName: "goroutines, P=2", Ours: measure(rows[i]), Peer: measure(rows[i+2]),
		})
	}
	return pairs
}

// cpuBound names a number of CPU-bound threads.
func cpuBound(n int) string {
	if n == 1 {
		return "1 CPU-bound thread"
	}
	return fmt.Sprintf("%d CPU-bound threads", n)
}
