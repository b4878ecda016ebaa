package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/pingpong"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/workload"
	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

// traceCommand has what its forms share.
type traceCommand struct {
	Out    file          `default:"trace.json" help:"Where to write the timeline, for ui.perfetto.dev or chrome://tracing."`
	Plot   file          `help:"Draw it as well, into a file whose name ends in .svg or .png."`
	From   time.Duration `help:"Draw from this moment of the timeline on. Default: its beginning; of pingpong, a few messages."`
	To     time.Duration `help:"Draw up to this moment. Default: the end."`
	Events int           `default:"65536" help:"How many events to keep of each VP: the newest ones; 1 to 16777216."`

	Work     traceWork     `cmd:"" help:"Trace threads that do a bit of everything: turns, fans, steals, blocking, long computations."`
	Pingpong tracePingpong `cmd:"" help:"Trace two processes that exchange messages, side by side in one timeline."`

	Merge traceMerge `cmd:"" help:"Put timelines that programs have left (PM2_TRACE) into one, side by side: those of the ranks of a job on one host."`

	figure *figure.File // claimed by Validate
}

type traceWork struct {
	Time time.Duration `default:"50ms" help:"How long, 1ms to 10s."`
	VPs  int           `name:"vps" default:"0" help:"How many VPs; 0: one for each CPU."`
}

type traceMerge struct {
	Files []string `arg:"" help:"The timelines, such as t.json.0 t.json.1."`
}

type tracePingpong struct {
	Driver  string    `default:"shm" help:"Network to use: ${drivers}."`
	Sizes   size.List `default:"8,64K" sep:"none" help:"Sizes of the messages in bytes, as in demo pingpong."`
	Iters   int       `default:"50" help:"Exchanges of each size; a warm-up comes first."`
	Threads int       `default:"1" help:"Pairs of threads that exchange messages at once."`
	Engine  string    `enum:"hooks,explicit" default:"hooks" help:"What makes the network progress: ${enum}."`
}

// Help is the long text of --help.
func (*traceCommand) Help() string {
	return "Records what each VP does, and writes it as a timeline in Google's Trace Event Format. A VP is a row; threads, hooks, " +
		"ltasks and messages are slices in it; wakes, steals and messages are arrows. A VP keeps its newest events; stderr and the names " +
		"of the rows say how many older ones were lost.\n\n" +
		"Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

// Validate implements kong's check after parsing.
func (c *traceCommand) Validate() (err error) {
	if c.Events < 1 || c.Events > 1<<24 {
		return fmt.Errorf("--events %d: choose from 1 to %d", c.Events, 1<<24)
	}
	if c.From < 0 || c.To < 0 || c.To != 0 && c.To <= c.From {
		return fmt.Errorf("--from %v --to %v: choose moments of the timeline, the earlier one first", c.From, c.To)
	}
	if err := c.Out.check("--out"); err != nil {
		return err
	}
	if c.Plot != "" {
		if c.figure, err = figure.Claim(string(c.Plot)); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return nil
}

// Validate implements kong's check after parsing.
func (w *traceWork) Validate() error {
	if w.Time < time.Millisecond || w.Time > 10*time.Second {
		return fmt.Errorf("--time %v: choose from 1ms to 10s", w.Time)
	}
	if w.VPs < 0 || w.VPs > 4096 {
		return fmt.Errorf("--vps %d: choose from 0 to 4096", w.VPs)
	}
	return nil
}

// Validate implements kong's check after parsing.
func (p *tracePingpong) Validate() error {
	if _, err := driver.LookupAll(p.Driver); err != nil {
		return fmt.Errorf("--driver: %w", err)
	}
	o := p.options()
	return o.Validate()
}

func (p *tracePingpong) options() pingpong.Options {
	return pingpong.Options{Driver: p.Driver, Engine: p.Engine, Iters: p.Iters, Threads: p.Threads, Sizes: p.Sizes}
}

// runWork traces the workload in this process.
func (c *traceCommand) runWork(ctx context.Context) error {
	if err := sched.Configure(sched.Config{VPs: c.Work.VPs}); err != nil {
		return err
	}
	s := sched.Default()
	if err := observe.StartTrace(s, observe.TraceConfig{Events: c.Events}); err != nil {
		return err
	}
	working, cancel := context.WithTimeout(ctx, c.Work.Time)
	defer cancel()
	workload.Run(working, s)
	trace, err := observe.StopTrace(s)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	trace.Description = fmt.Sprintf("demo trace work (pid %d)", trace.PID)
	t := timeline.Of(trace)
	return c.write(t, "demo trace work", figure.Window{})
}

// runPingpong traces both ranks and merges what they recorded.
func (c *traceCommand) runPingpong(ctx context.Context) error {
	o := c.Pingpong.options()
	o.Trace = &pingpong.Trace{Events: c.Events}
	var files [len(o.Trace.Files)]*os.File
	for rank := range files {
		// In memory, so that nothing stays however this process ends.
		fd, err := unix.MemfdCreate("demo-trace", unix.MFD_CLOEXEC)
		if err != nil {
			return fmt.Errorf("trace two processes: %w", err)
		}
		files[rank] = os.NewFile(uintptr(fd), "demo-trace")
		defer files[rank].Close()
		o.Trace.Files[rank] = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	}
	err := pingpong.Run(ctx, o, pingpong.Sink{
		Warn:  warn,
		Begin: func(report.Machine, ...string) error { return nil },
		Row:   func(pingpong.Row) error { return nil },
		Label: func(string) {},
		Step:  func(int64) {},
	})
	if err != nil {
		return err
	}
	var parts []*timeline.Timeline
	for rank, file := range files {
		t, err := timeline.Read(file)
		if err != nil {
			return fmt.Errorf("the trace of rank %d: %w", rank, err)
		}
		parts = append(parts, t)
	}
	all, err := timeline.Merge(parts...)
	if err != nil {
		return err
	}
	return c.write(all, fmt.Sprintf("demo trace pingpong: driver %s, engine %s", c.Pingpong.Driver, c.Pingpong.Engine),
		messages(all))
}

// runMerge puts files together.
func (c *traceCommand) runMerge(context.Context) error {
	var parts []*timeline.Timeline
	for _, name := range c.Merge.Files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		t, err := timeline.Read(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		parts = append(parts, t)
	}
	all, err := timeline.Merge(parts...)
	if err != nil {
		return err
	}
	return c.write(all, "demo trace merge", figure.Window{})
}

// messages is a window with a few messages in the middle of the run.
func messages(t *timeline.Timeline) (w figure.Window) {
	var times []int64
	for _, e := range t.Events {
		if e.Name == "message" && e.Phase == "f" {
			times = append(times, int64(e.TS))
		}
	}
	const few = 9
	if middle := len(times) * 2 / 5; middle+few < len(times) {
		w = figure.Window{From: times[middle], To: times[middle+few]}
		margin := (w.To - w.From) / 20
		w.From, w.To = max(w.From-margin, 0), w.To+margin
	}
	return w
}

// write checks the timeline, writes it, and draws the window of it.
func (c *traceCommand) write(t *timeline.Timeline, title string, w figure.Window) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("the timeline contradicts itself: %w", err)
	}
	f, err := os.Create(string(c.Out))
	if err != nil {
		return fmt.Errorf("write the timeline: %w", err)
	}
	if err := t.Write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write the timeline: %w", err)
	}
	if t.About.Lost > 0 {
		warn("the rings were too small for %d older events: --events keeps more", t.About.Lost)
	}
	fmt.Printf("%s: %d events; open it at https://ui.perfetto.dev\n", c.Out, len(t.Events))
	if c.figure == nil {
		return nil
	}
	if c.From != 0 || c.To != 0 {
		w = figure.Window{From: int64(c.From), To: int64(c.To)}
	}
	if w.To == 0 && w.From != 0 {
		w.To = 1 << 62
	}
	return figure.Timeline(c.figure, title, t, w)
}
