package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/waiters"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

type explainProgressCommand struct {
	Synthetic levels        `help:"Instead of this machine, one with these levels: 'numa:4 l3:1 core:4 pu:1', at most ${mostVPs} PUs; its VPs share the CPUs of this one."`
	Time      time.Duration `default:"500ms" help:"How long messages come and threads compute before the engine is asked, 0s to 1m."`
	Waiting   int           `default:"16" help:"How many goroutines wait for messages, each at a socket of its own; 0 to 256."`
	Format    string        `enum:"text,json" default:"text" help:"What to write to stdout: ${enum}."`
	width
	progressFlags

	machine *topo.Topology
	asked   pioman.Params
}

// mostExplained is the most VPs of a synthetic machine: each is an OS thread.
const mostExplained = 128

// Help is the long text of --help.
func (*explainProgressCommand) Help() string {
	return "Runs the progress engine for a while, with goroutines that wait for messages, messages that come in bursts, and threads that " +
		"compute in between; then says what polls where: at which points, which VP when, and which queues it visits; what was counted; and where each parameter " +
		"has its value from.\n\n" +
		engineFlags + "Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

// Validate implements kong's check after parsing.
func (c *explainProgressCommand) Validate() (err error) {
	switch {
	case c.Time < 0 || c.Time > time.Minute:
		return fmt.Errorf("--time %v: choose from 0s to 1m", c.Time)
	case c.Waiting < 0 || c.Waiting > 256:
		return fmt.Errorf("--waiting %d: choose from 0 to 256", c.Waiting)
	}
	if c.Synthetic != "" {
		if c.machine, err = topo.Synthetic(string(c.Synthetic)); err != nil {
			return fmt.Errorf("--synthetic: %s", strings.TrimPrefix(err.Error(), "topo: "))
		}
		if n := len(c.machine.PUs()); n > mostExplained {
			return fmt.Errorf("--synthetic: %d PUs, each of which would be a thread: choose at most %d", n, mostExplained)
		}
	}
	if c.asked, err = c.params(); err != nil {
		return err
	}
	return nil
}

func (c *explainProgressCommand) run(ctx context.Context) (err error) {
	e := pioman.New(pioman.Config{Name: "explained", Params: &c.asked})
	defer e.Close()
	cfg := sched.Config{Topology: c.machine}
	if c.machine != nil {
		cfg.VPs = len(c.machine.PUs())
	}
	s, err := sched.New(cfg)
	if err != nil {
		return err
	}
	defer func() {
		if e := s.Stop(context.Background()); err == nil {
			err = e
		}
	}()
	stop, err := e.Attach(s)
	if err != nil {
		return err
	}
	defer stop()
	return c.explain(ctx, e, s.NumVP(), func(f func()) { marcel.RunOn(s, f) })
}

func (c *explainProgressCommand) explain(ctx context.Context, e *pioman.Engine, threads int, run func(func())) error {
	x, err := waiters.Run(ctx, threads, run, e, c.Waiting, c.Time)
	if err != nil {
		return err
	}
	return c.write(x)
}

// explained is the JSON that explain-progress writes.
type explained struct {
	Experiment string `json:"experiment"`
	Machine    string `json:"machine"` // "this machine", or the levels of a synthetic one
	pioman.Explanation
}

func (c *explainProgressCommand) write(x pioman.Explanation) error {
	machine := "this machine"
	if c.machine != nil {
		machine = "synthetic machine " + c.machine.Name
	}
	var text []byte
	if c.Format == "json" {
		var err error
		if text, err = json.MarshalIndent(explained{"explain-progress", machine, x}, "", "  "); err != nil {
			return err
		}
		text = append(text, '\n')
	} else {
		text = []byte("# demo explain-progress\n# " + machine + "\n" + c.fit(x.Text()))
	}
	if _, err := os.Stdout.Write(text); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}
