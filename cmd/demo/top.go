package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/cmd/demo/internal/top"
	"github.com/pm2-go/pm2/cmd/demo/internal/workload"
	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/observe"
)

type topCommand struct {
	Attach file          `help:"Look at another process, through the socket that it serves at this path. Default: run a workload and look at that."`
	List   bool          `help:"List the processes that can be looked at, and end."`
	Every  time.Duration `default:"1s" help:"How long between two looks, 10ms to 1h."`
	Once   bool          `help:"Look once, and end."`
	Count  int           `default:"0" help:"How often to look; 0: until interrupted."`
	VPs    int           `name:"vps" default:"0" help:"How many VPs the workload has; 0: one for each CPU."`

	Threads int `default:"0" help:"List so many threads as well, the oldest first, 0 to 1000: what each does and waits for, and its work, if the process counts that: switches, moves between VPs, time with and without a VP."`
}

// Help is the long text of --help.
func (*topCommand) Help() string {
	return "Percentages are shares of the time between two looks: load is the time in which threads run, spin% and hook% are looking for work, sleep% is sleep. Ended/s counts " +
		"threads. Wakes are latencies from being woken to running, of one wake in 64. " +
		"On a terminal each table replaces the one before; else they follow each other.\n\n" +
		"Any program that uses marcel can be looked at if it was started with PM2_STATS=/some/path; of a job, rank N is at " +
		"/some/path.N. --list finds them.\n\n" +
		"Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
}

// Validate implements kong's check after parsing.
func (c *topCommand) Validate() error {
	switch {
	case c.Every < 10*time.Millisecond || c.Every > time.Hour:
		return fmt.Errorf("--every %v: choose from 10ms to 1h", c.Every)
	case c.Count < 0:
		return fmt.Errorf("--count %d: choose 1 or more, or 0 for no end", c.Count)
	case c.Once && c.Count > 1:
		return fmt.Errorf("--once --count %d: choose one of the two", c.Count)
	case c.VPs < 0 || c.VPs > 4096:
		return fmt.Errorf("--vps %d: choose from 0 to 4096", c.VPs)
	case c.Threads < 0 || c.Threads > monitor.MostThreads:
		return fmt.Errorf("--threads %d: choose from 0 to %d", c.Threads, monitor.MostThreads)
	case c.List && c.Attach != "":
		return errors.New("--list --attach: choose one of the two")
	case c.Attach != "" && c.VPs != 0:
		return errors.New("--vps: that is for the workload, and with --attach none is run")
	}
	return nil
}

func (c *topCommand) run(ctx context.Context) error {
	if c.List {
		return top.WriteProcesses(os.Stdout, top.Processes())
	}
	if c.Attach != "" {
		client, err := monitor.Attach(string(c.Attach))
		if err != nil {
			return err
		}
		defer client.Close()
		look := client.Stats
		if c.Threads > 0 {
			look = client.Threads
		}
		return c.watch(ctx, string(c.Attach), look)
	}
	if err := sched.Configure(sched.Config{VPs: c.VPs}); err != nil {
		return err
	}
	s := sched.Default()
	observe.CountThreads(s, c.Threads > 0)
	working, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { workload.Run(working, s) })
	defer work.Wait()
	defer cancel()
	return c.watch(ctx, fmt.Sprintf("demo top (pid %d)", os.Getpid()), func() (sched.Stats, error) { return s.Snapshot(c.Threads), nil })
}

// watch shows what happens between looks.
func (c *topCommand) watch(ctx context.Context, title string, look func() (sched.Stats, error)) error {
	clear := ""
	if _, err := unix.IoctlGetTermios(int(os.Stdout.Fd()), unix.TCGETS); err == nil {
		clear = "\x1b[H\x1b[J" // home, and erase from there
	}
	before, err := look()
	if err != nil {
		return err
	}
	looks := c.Count
	if c.Once {
		looks = 1
	}
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(c.Every):
		}
		now, err := look()
		if err != nil {
			return err
		}
		if n > 1 && clear == "" {
			fmt.Println()
		}
		if _, err := fmt.Print(clear); err != nil {
			return err
		}
		if err := top.Write(os.Stdout, title, now, before); err != nil {
			return err
		}
		if c.Threads > 0 {
			if err := top.WriteThreads(os.Stdout, now, c.Threads); err != nil {
				return err
			}
		}
		if n == looks {
			return nil
		}
		before = now
	}
}
