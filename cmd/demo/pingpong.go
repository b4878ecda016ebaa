package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/fromc"
	"github.com/pm2-go/pm2/cmd/demo/internal/pingpong"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/nmad"
)

// run is rank 0's process from here on.
func (c *pingpongCommand) run(ctx context.Context) error {
	if c.Caller == pingpong.FromC && !fromc.Available {
		return c.again(ctx)
	}
	start := pingpong.Run
	if pingpong.InJob() {
		start = pingpong.RunInJob
		if c.Driver == "shm" { // the default: the best that there is, on one host this
			c.Driver = nmad.DefaultDriver
		}
	}
	o := c.options()
	s, err := c.newSheet("pingpong", o, pingpong.Steps(&o))
	if err != nil {
		return err
	}
	defer s.bar.Done()
	var points []figure.Point
	err = start(ctx, o, pingpong.Sink{
		Warn: warn,
		Begin: func(m report.Machine, remarks ...string) error {
			s.report.Machine = m
			return s.writer.Begin(&s.report, remarks...)
		},
		Row: func(r pingpong.Row) error {
			points = append(points, figure.Point{
				Size: r.Size, Min: r.Min / 1e3, Median: r.Median / 1e3, P99: r.P99 / 1e3, Bandwidth: r.Bandwidth,
			})
			if c.Window > 0 {
				return s.row(r.Windowed(c.Window))
			}
			return s.row(r)
		},
		Label: s.bar.Label,
		Step:  s.bar.Add,
	})
	if err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	if c.figure == nil {
		return nil
	}
	title := fmt.Sprintf("demo pingpong: driver %s, engine %s, %s", c.Driver, c.Engine, s.report.Machine.CPU)
	if c.Threads > 1 {
		title += fmt.Sprintf(", %d pairs of threads", c.Threads)
	}
	if c.Bidirectional {
		title += ", both directions at once"
	}
	if c.Window > 0 {
		title += fmt.Sprintf(", windows of %d", c.Window)
	}
	return figure.Latency(c.figure, title, points)
}

// again has this command line run by a demo that calls from C, in this process's place.
func (c *pingpongCommand) again(ctx context.Context) error {
	program, err := fromc.Build(ctx, "github.com/pm2-go/pm2/cmd/demo")
	if err != nil {
		return fmt.Errorf("--caller c: %w", err)
	}
	return fmt.Errorf("--caller c: run %s: %w", program, syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ()))
}
