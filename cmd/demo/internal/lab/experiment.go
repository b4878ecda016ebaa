package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

// Experiment is one published experiment.
type Experiment struct {
	Name      string // "E16", as docs/experiments.md numbers it
	Title     string // what is measured, in a few words
	Paper     string // and where it was published
	Published string // the outcome there, in one line

	Iters  int           // what Options.Iters is if it is not given; its meaning is the experiment's
	Rounds int           // likewise
	Lasts  time.Duration // how long that takes, roughly, without peers: one round on two cores, times the rounds
	Linked bool          // it wants a network namespace of its own, for a link between two hosts (package veth)
	Pair   bool          // two processes measure, which may be the ranks 0 and 1 of a process manager's job
	Parts  bool          // Options.Only may choose among its variants

	Network bool // Options.Driver may choose the network

	// Run measures, and puts rows into s. It fails only if something is wrong; what cannot be measured here is skipped.
	Run func(ctx context.Context, o Options, s *Sink) error
}

// Options say how much to measure.
type Options struct {
	Iters  int    // operations of one variant in one round
	Rounds int    // how often every variant is measured
	CPUs   []int  // that may be used
	Peers  string // the command test/peers, built; empty: build it; NoPeers: ours alone
	Driver string // the network of ours; empty: the experiment's own
	Only   string // of the variants those that have this in their name, in any case, with what they are compared with; empty: all
}

// Sink is where an experiment puts what it has to say. One goroutine may use it.
type Sink struct {
	Warn  func(format string, args ...any) // what limits this run
	Begin func(remarks ...string) error    // once, before the first row
	Row   func(r report.Row) error         // all of one type
	Skip  func(name, why string)           // what cannot be measured here
	Label func(text string)                // what is being measured now
	Step  func(done, of int)               // progress
	Plot  *figure.File                     // nil: no figure is wanted
	Title func(conditions string) string   // of the figure
}

// All lists the experiments in the order of their numbers.
func All() []Experiment {
	return []Experiment{emptyTask, causes, whoRuns, overlapShort, lockLatency, twoThreads, engineInPath, semaphoreWait, remotePoll, offloading, dedicatedCore, idlePeriod, epBeside, timerPeriod, engineCost, nasKernels, overlapBoth, overlapOne, sendTime, fan, pairs, nload, standardSend, aroundComputation, receiveCall, exchanges, domainCount, memoryLimits, handlerMask, getMask, treeSearch, overlapCollectives, contention, gates}
}

// Lookup finds an experiment by its name, in any case.
func Lookup(name string) (*Experiment, error) {
	all := All()
	var names []string
	for i := range all {
		if strings.EqualFold(all[i].Name, name) {
			return &all[i], nil
		}
		names = append(names, all[i].Name)
	}
	return nil, fmt.Errorf("no experiment is called %q; there are: %s", name, strings.Join(names, ", "))
}

// Resolve fills in what was not given.
func (ex *Experiment) Resolve(o Options) Options {
	if o.Iters == 0 {
		o.Iters = ex.Iters
	}
	if o.Rounds == 0 {
		o.Rounds = ex.Rounds
	}
	return o
}
