package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/lab"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/veth"
	"github.com/pm2-go/pm2/nmad/driver"
)

type experimentCommand struct {
	Name   string `arg:"" optional:"" help:"Which one: ${experiments}. Without a name they are listed."`
	Iters  int    `help:"Operations of each variant in each round; 0: the experiment's own number."`
	Rounds int    `help:"How often every variant is measured, in turn; 0: the experiment's own number."`
	Only   string `help:"Measure those variants alone that have this text in their names, in any case, and what they are compared with."`
	Driver string `help:"The network of ours, such as tcp or unix. Default: the experiment's own."`
	Peers  string `help:"The MPI libraries beside ours: none, or a built test/peers command. Default: build that one, with the go command."`
	output

	chosen *lab.Experiment // by Validate; nil: the list
}

// namedExperiment is the experiment that a command line names which asks for help; nil if it names none.
func namedExperiment(ctx *kong.Context) *lab.Experiment {
	if n := ctx.Selected(); n == nil || n.Name != "experiment" {
		return nil
	}
	for _, part := range ctx.Path {
		if part.Positional == nil {
			continue
		}
		if x, err := lab.Lookup(ctx.Value(part).String()); err == nil {
			return x
		}
	}
	return nil
}

// aboutExperiment is the long text of --help about one experiment.
func aboutExperiment(x *lab.Experiment) string {
	return fmt.Sprintf("%s, %s: %s (%s).\n\nPublished: %s.\n\nIts own numbers: --iters %d, --rounds %d. docs/experiments.md has what it shows.",
		x.Name, lasting(x.Lasts), x.Title, x.Paper, x.Published, x.Iters, x.Rounds)
}

// Help is the long text of --help.
func (*experimentCommand) Help() string {
	var b strings.Builder
	b.WriteString("Reproduces an experiment of the papers. It measures what is compared in turns, round after round, with the " +
		"core-to-core probe beside it; each row says under what conditions. docs/experiments.md says what each experiment shows, and the doc of cmd/demo/internal/lab names the papers.\n\n")
	for _, x := range lab.All() {
		fmt.Fprintf(&b, "%s, %s: %s (%s)\n\n", x.Name, lasting(x.Lasts), x.Title, x.Paper)
	}
	b.WriteString("Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.")
	return b.String()
}

// Validate implements kong's check after parsing.
func (c *experimentCommand) Validate() (err error) {
	const most = 100_000_000
	if c.Iters < 0 || c.Iters > most {
		return fmt.Errorf("--iters %d: choose from 0 (the experiment's own) to %d", c.Iters, most)
	}
	if c.Rounds < 0 || c.Rounds > 1000 {
		return fmt.Errorf("--rounds %d: choose from 0 (the experiment's own) to 1000", c.Rounds)
	}
	if c.Peers != "" && c.Peers != lab.NoPeers {
		path, err := exec.LookPath(c.Peers)
		if err != nil {
			return fmt.Errorf("--peers %s: no such program: write %s, or the path of a built test/peers", c.Peers, lab.NoPeers)
		}
		c.Peers = path
	}
	if c.Name == "" {
		if c.Plot != "" {
			return errors.New("--plot: name the experiment to draw, such as demo experiment E16")
		}
		if c.Only != "" {
			return errors.New("--only: name the experiment to measure a part of, such as demo experiment E14")
		}
		if c.Driver != "" {
			return errors.New("--driver: name the experiment that is to go over this network, such as demo experiment E21")
		}
		return nil
	}
	if c.chosen, err = lab.Lookup(c.Name); err != nil {
		return err
	}
	if c.Driver != "" {
		if _, err := driver.Lookup(c.Driver); err != nil {
			return fmt.Errorf("--driver: %w", err)
		}
		if !c.chosen.Network {
			return fmt.Errorf("--driver: %s goes over its own networks; over one that is named go: %s", c.chosen.Name, strings.Join(experimentsWith(func(x *lab.Experiment) bool { return x.Network }), ", "))
		}
	}
	switch {
	case c.Only != "" && !c.chosen.Parts:
		return fmt.Errorf("--only: %s is measured as a whole; in parts can be measured: %s", c.chosen.Name, strings.Join(experimentsWith(func(x *lab.Experiment) bool { return x.Parts }), ", "))
	case c.Only != "" && c.Plot != "":
		return errors.New("--only: a part draws no graph; leave out --plot")
	}
	return c.output.Validate()
}

// experimentParameters are what the JSON says about a run of an experiment.
type experimentParameters struct {
	Title     string `json:"title"`
	Paper     string `json:"paper"`
	Published string `json:"published"`
	Iters     int    `json:"iters"`
	Rounds    int    `json:"rounds"`
}

func (c *experimentCommand) run(ctx context.Context) error {
	if c.chosen == nil {
		return c.list()
	}
	if follows, err := duo.Follows(); err != nil {
		return err
	} else if follows {
		if status := runFollower(); status != 0 {
			return toldError{status}
		}
		return nil
	}
	const steps = 1000
	x := c.chosen
	if duo.InJob() && !x.Pair {
		return duo.Decline(ctx, fmt.Errorf("%s has no part for the processes of a job: start it alone, without the process manager", x.Name))
	}
	if x.Linked && !veth.Inside() && veth.Missing() == nil {
		return c.inNamespace(ctx)
	}
	o := x.Resolve(lab.Options{Iters: c.Iters, Rounds: c.Rounds, CPUs: binding.Allowed(), Peers: c.Peers, Only: c.Only, Driver: c.Driver})
	s, err := c.newSheet(x.Name, experimentParameters{x.Title, x.Paper, x.Published, o.Iters, o.Rounds}, steps)
	if err != nil {
		return err
	}
	defer s.bar.Done()
	shown := 0
	err = x.Run(ctx, o, &lab.Sink{
		Warn: warn,
		Begin: func(remarks ...string) error { // what is wrong with the command line has been said before
			s.report.Machine = report.Detect(len(o.CPUs), startProbe(o.CPUs))
			return s.writer.Begin(&s.report, append([]string{x.Title + " (" + x.Paper + ")", "published: " + x.Published}, remarks...)...)
		},
		Row:   s.row,
		Skip:  func(name, why string) { s.report.Skipped = append(s.report.Skipped, report.Skip{Name: name, Why: why}) },
		Label: s.bar.Label,
		Step: func(done, of int) {
			now := steps * done / max(of, 1)
			s.bar.Add(int64(now - shown))
			shown = now
		},
		Plot: c.figure,
		Title: func(conditions string) string {
			return "demo experiment " + x.Name + ": " + conditions + ", " + s.report.Machine.CPU + "\n" + foldAt("published: "+x.Published, 84)
		},
	})
	if errors.Is(err, lab.ErrNoVariant) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	return s.end()
}

// inNamespace has another process run this command line, in a network namespace of its own.
func (c *experimentCommand) inNamespace(ctx context.Context) error {
	status, err := veth.Enter(ctx)
	if err != nil || status == 0 {
		return err
	}
	return toldError{status}
}

// list prints what there is.
func (c *experimentCommand) list() error {
	s, err := c.newSheet("experiment", struct{}{}, 1)
	if err != nil {
		return err
	}
	s.report.Machine = report.Detect(len(binding.Allowed()), 0)
	if err := s.writer.Begin(&s.report, "the papers' experiments that can be run by name; durations are ours alone, on two cores, peers take longer"); err != nil {
		return err
	}
	for _, x := range lab.All() {
		if err := s.row(listed{x.Name, x.Title, x.Paper, x.Published, x.Lasts.Seconds()}); err != nil {
			return err
		}
	}
	return s.end()
}

// listed is the row of an experiment in the list of all.
type listed struct {
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	Paper     string  `json:"paper"`
	Published string  `json:"published"`
	Lasts     float64 `json:"lasts_s"`
}

// Head implements report.Row.
func (listed) Head() string {
	return "# Name                Lasts    What is measured (where it was published): what came out there"
}

// Line implements report.Row.
func (li listed) Line() string {
	return fmt.Sprintf("  %-19s %-8s %s (%s): %s", li.Name, lasting(time.Duration(li.Lasts*float64(time.Second))), li.Title, li.Paper, li.Published)
}

// BriefHead implements report.Brief.
func (li listed) BriefHead() string { return li.Head() }

// BriefLine implements report.Brief.
func (li listed) BriefLine() string {
	return report.Wrap(fmt.Sprintf("%s (%s): %s", li.Title, li.Paper, li.Published), fmt.Sprintf("  %-19s %-8s ", li.Name, lasting(time.Duration(li.Lasts*float64(time.Second)))), strings.Repeat(" ", 31))
}

// BriefNote implements report.Brief.
func (listed) BriefNote() string { return "" }

// lasting is how long an experiment takes on two cores, roughly.
func lasting(d time.Duration) string {
	if d < 90*time.Second {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}

// runFollower is the whole life of an experiment's second process.
func runFollower() int {
	if err := lab.Follow(); err != nil {
		fmt.Fprintf(os.Stderr, "demo: rank 1: %v\n", oneLine(err))
		return 1
	}
	return 0
}

// experimentsWith are the names of the experiments for which has returns true.
func experimentsWith(has func(*lab.Experiment) bool) (names []string) {
	for _, x := range lab.All() {
		if has(&x) {
			names = append(names, x.Name)
		}
	}
	return names
}

// experimentNames are the names of all experiments, for --help.
func experimentNames() string {
	return strings.Join(experimentsWith(func(*lab.Experiment) bool { return true }), ", ")
}

// foldAt breaks a text between its words into as few lines of at most that many bytes as there can be, all about as
// long.
func foldAt(text string, most int) string {
	folded := foldOnce(text, most)
	for most--; most > 0; most-- {
		narrower := foldOnce(text, most)
		if strings.Count(narrower, "\n") > strings.Count(folded, "\n") {
			break
		}
		folded = narrower
	}
	return folded
}

// foldOnce fills one line after the other.
func foldOnce(text string, most int) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(text) {
		switch {
		case used == 0:
		case used+1+len(word) > most:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	return b.String()
}
