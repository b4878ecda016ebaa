package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/topology"
	"github.com/pm2-go/pm2/sched/topo"
	"github.com/pm2-go/pm2/sched/topo/crosscheck"
)

// Types of flags; kong shows their names in --help.
type (
	levels    string
	recording string
)

// UnmarshalText implements encoding.TextUnmarshaler: an empty text would be taken for no flag at all.
func (l *levels) UnmarshalText(text []byte) error {
	if *l = levels(text); *l == "" {
		return errors.New("it is empty: describe a machine, such as 'numa:2 core:4 pu:1', or leave the flag out")
	}
	return nil
}

// UnmarshalText is the same for a path.
func (rec *recording) UnmarshalText(text []byte) error {
	if *rec = recording(text); *rec == "" {
		return errors.New("it is empty: name a directory or an archive, or leave the flag out")
	}
	return nil
}

type topoCommand struct {
	Synthetic levels    `xor:"source" help:"Instead of this machine, one with these levels: 'numa:4 l3:1 core:4 pu:1'."`
	Recorded  recording `xor:"source" help:"Instead of this machine, the one whose /sys and /proc were copied into a directory, or a tar archive."`
	Pruned    bool      `help:"Leave out the levels that have no siblings, as queues do."`
	Format    string    `enum:"${formats}" default:"table" help:"What to write to stdout: ${enum}."`
	Plot      file      `xor:"plot" help:"Draw the machine as well, into a file whose name ends in .svg or .png."`
	SVG       file      `name:"svg" xor:"plot" help:"The same, .svg only."`
	PNG       file      `name:"png" xor:"plot" help:"The same, .png only."`

	figure *figure.File
	source string
	shown  *topo.Topology
}

// Help is the long text of --help.
func (*topoCommand) Help() string {
	return "Shows which CPUs may be used, and which caches, NUMA nodes and packages they share. CPUs that are offline or " +
		"forbidden are named, but not in the picture. Levels of a description go from the outermost to the innermost: " +
		"package, numa, die, l3, cluster, l2, l1, core, pu; each number counts the items in one of the level before.\n\n" +
		"Exit status: 0 done, 1 failed, 2 wrong usage."
}

// Validate implements kong's check after parsing: it reads the machine.
func (c *topoCommand) Validate() (err error) {
	flag := ""
	switch {
	case c.Synthetic != "":
		flag, c.source = "--synthetic", "synthetic"
		c.shown, err = topo.Synthetic(string(c.Synthetic))
	case c.Recorded != "":
		flag, c.source = "--recorded", "recorded"
		c.shown, err = topo.RecordedFile(string(c.Recorded))
	default:
		c.source = "this machine"
	}
	if err != nil {
		return fmt.Errorf("%s: %s", flag, strings.TrimPrefix(err.Error(), "topo: "))
	}
	for _, f := range []struct {
		flag, ending string
		name         file
	}{{"--plot", "", c.Plot}, {"--svg", ".svg", c.SVG}, {"--png", ".png", c.PNG}} {
		if f.name == "" {
			continue
		}
		if !strings.HasSuffix(string(f.name), f.ending) {
			return fmt.Errorf("%s %s: the name does not end in %s: say --plot %s", f.flag, f.name, f.ending, f.name)
		}
		if c.figure, err = figure.Claim(string(f.name)); err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	return nil
}

// topoParameters are what the JSON says about a run of topo.
type topoParameters struct {
	Source      string   `json:"source"` // "this machine", "synthetic" or "recorded"
	Description string   `json:"description,omitempty"`
	Pruned      bool     `json:"pruned"`
	Processor   string   `json:"processor,omitempty"`
	Quota       *float64 `json:"quota_cpus"` // CPUs' worth of time; null: no limit
	Remarks     []string `json:"remarks"`
}

// run describes the machine.
func (c *topoCommand) run(context.Context) (err error) {
	t := c.shown
	var checked []string
	if t == nil {
		if t, err = topo.Discover(); err != nil {
			return err
		}
		checked = checkedLines(crosscheck.Run(t, "/"))
	}
	if c.Pruned {
		t = t.Pruned()
	}
	if c.Format == "table" {
		err = c.table(t, checked)
	} else {
		err = c.document(t)
	}
	if err != nil || c.figure == nil {
		return err
	}
	return figure.Machine(c.figure, c.title(t), t, topology.Facts(t))
}

func (c *topoCommand) title(t *topo.Topology) string {
	switch c.source {
	case "synthetic":
		return "synthetic machine " + t.Name
	case "recorded":
		return "recorded machine " + t.Name
	}
	if t.Model != "" {
		return "this machine, " + t.Model
	}
	return "this machine"
}

func (c *topoCommand) table(t *topo.Topology, checked []string) error {
	text := "# demo topo\n# " + c.title(t) + "\n" + topology.Text(t)
	for _, line := range checked {
		text += line + "\n"
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// checkedLines says what the comparison with ghw brought.
func checkedLines(r crosscheck.Result) (lines []string) {
	if r.Product != "" {
		lines = append(lines, "product: "+r.Product)
	}
	if len(r.Agree) > 0 {
		lines = append(lines, "ghw agrees: "+strings.Join(r.Agree, ", "))
	}
	for _, d := range r.Differ {
		lines = append(lines, "ghw differs: "+d)
	}
	if r.Err != nil {
		lines = append(lines, "ghw failed: "+oneLine(r.Err))
	}
	return lines
}

// document writes JSON or CSV.
func (c *topoCommand) document(t *topo.Topology) error {
	p := topoParameters{Source: c.source, Pruned: c.Pruned, Processor: t.Model, Remarks: append([]string{}, t.Remarks...)}
	if c.source != "this machine" {
		p.Description = t.Name
	}
	if t.Quota > 0 {
		p.Quota = &t.Quota
	}
	r := report.Report{
		Experiment: "topo", Machine: report.Detect(len(binding.Allowed()), 0), Parameters: p,
		Rows: topology.Rows(t), Skipped: topology.Skips(t),
	}
	w, err := report.New(c.Format, os.Stdout)
	if err != nil {
		return err
	}
	if err := w.Begin(&r); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if err := w.Row(row); err != nil {
			return err
		}
	}
	return w.End(&r)
}
