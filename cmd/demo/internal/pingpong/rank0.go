package pingpong

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/nmad"
)

// Sink is where Run puts what it has to say. All are called from one goroutine, Step excepted, which may be called from
// several threads and must not block.
type Sink struct {
	Warn  func(format string, args ...any)                // what limits this run
	Begin func(m report.Machine, remarks ...string) error // once, before the first row
	Row   func(Row) error                                 // after each size
	Label func(text string)                               // what is being measured now
	Step  func(n int64)                                   // progress, of Steps in all
}

// Steps is the number of steps that a run with these options makes.
func Steps(o *Options) int64 { return int64(len(o.Sizes)) * stepsPerRow }

const (
	joinPatience = 20 * time.Second       // for both ranks to find each other
	endPatience  = 5 * time.Second        // for a rank to end when it should
	causeWait    = 500 * time.Millisecond // for the reason of a failure that was seen first elsewhere
)

// Run is rank 0: it starts rank 1, runs all rows and ends rank 1. It blocks until then; when ctx ends it kills rank 1
// and returns ctx's cause. It configures the default scheduler and binds this process, so it can run once in a process.
func Run(ctx context.Context, o Options, sink Sink) error {
	where := choosePlace(sink.Warn)
	probe, err := where.probe()
	if err != nil {
		sink.Warn("%v", err)
	}
	machine := report.Detect(where.usable, probe)
	child, err := startRank1(&o, &where, sink)
	if err != nil {
		return err
	}
	defer child.kill()
	if err := where.bind(0); err != nil {
		return err
	}
	if err := where.configure(0); err != nil {
		return err
	}
	if err := sink.Begin(machine, o.remark(), where.String()); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- lead(ctx, &o, &where, sink, child) }()
	return child.watch(ctx, ended)
}

func (o *Options) remark() string {
	who := o.callers()
	pairs := "1 pair of " + who
	if o.Threads > 1 {
		pairs = fmt.Sprintf("%d pairs of %s at once", o.Threads, who)
	}
	switch {
	case o.Both && o.Window > 0:
		return fmt.Sprintf("windows of %d messages each way at the same time, bandwidth of both directions, time per message of one, driver %s, engine %s, %s", o.Window, o.Driver, o.Engine, pairs)
	case o.Both:
		return fmt.Sprintf("one message each way at the same time, bandwidth of both directions, driver %s, engine %s, %s", o.Driver, o.Engine, pairs)
	case o.Window > 0:
		return fmt.Sprintf("time per message of windows of %d messages in one direction, driver %s, engine %s, %s", o.Window, o.Driver, o.Engine, pairs)
	}
	if len(o.Vary) > 0 {
		pairs += ", " + strings.Join(o.Vary, ", ")
	}
	if o.Loan || o.Touch {
		how := "messages are copied"
		if o.Loan {
			how = "messages are lent"
		}
		if o.Touch {
			how += ", written and read within the time"
		}
		pairs = how + ", " + pairs
	}
	return fmt.Sprintf("one-way latency of verified messages, driver %s, engine %s, %s", o.Driver, o.Engine, pairs)
}

// lead joins the job and runs the rows.
func lead(ctx context.Context, o *Options, where *place, sink Sink, child *rank1) (err error) {
	stop, err := o.enable()
	if err != nil {
		return err
	}
	defer stop()
	joining, cancel := context.WithTimeout(ctx, joinPatience)
	defer cancel()
	session, err := nmad.Open(joining, child.config())
	if err != nil {
		return err
	}
	defer func() {
		if e := session.Close(); err == nil {
			err = e
		}
	}()
	end, err := o.record(0)
	if err != nil {
		return err
	}
	defer func() { // before the session is closed
		if e := end(); err == nil {
			err = e
		}
	}()
	write := sink.Row
	sink.Row = func(r Row) error {
		err := write(r)
		if err != nil {
			child.kill() // else rank 1 says that rank 0 has left it
		}
		return err
	}
	return leadRows(ctx, o, where, sink, session.Gate(1))
}

// leadRows runs the rows and tells rank 1 that there are no more.
func leadRows(ctx context.Context, o *Options, where *place, sink Sink, gate *nmad.Gate) (err error) {
	crossings, err := o.crossings()
	if err != nil {
		return err
	}
	overhead := stat.ClockOverhead() + crossings
	for i, bytes := range o.Sizes {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		sink.Label(size.Format(bytes))
		// Rank 1 waits for the announcement meanwhile and leaves its CPU alone.
		near, err := where.probe()
		if err != nil {
			near = 0
		}
		t := newTally(int64(o.Threads)*int64(o.iterations(bytes)), sink.Step)
		if o.Window > 0 || o.Both {
			t.one = float64(max(o.Window, 1))
		}
		o.run(func() { err = leadRow(gate, o, i, t, overhead) })
		if err != nil {
			return err
		}
		row := newRow(bytes, o.iterations(bytes), o.Threads, t, near)
		row.Loan, row.Touch = o.Loan, o.Touch
		if row.Both = o.Both; o.Both {
			row.Bandwidth = report.Significant(2 * row.Bandwidth)
		}
		if err := sink.Row(row); err != nil {
			return err
		}
	}
	o.run(func() { err = announce(gate, noMoreRows) })
	return err
}

// watch waits for the end of lead, of rank 1, or of ctx, whichever is first, and says what the run came to.
func (c *rank1) watch(ctx context.Context, ended <-chan error) error {
	select {
	case err := <-ended:
		if err == nil {
			return c.awaitEnd()
		}
		return c.blame(err)
	case <-c.exited():
		// Normal only if lead is through with all rows, or as good as.
		wait := causeWait
		if c.verdict() == nil {
			wait = endPatience
		}
		select {
		case err := <-ended:
			if err == nil {
				return c.verdict()
			}
			return c.blame(err)
		case <-time.After(wait):
			return c.blame(nil)
		}
	case <-ctx.Done():
		c.kill()
		select {
		case <-ended: // its session is closed
		case <-time.After(endPatience):
		}
		return context.Cause(ctx)
	}
}

// blame makes one error of what rank 0 saw and how rank 1 ended.
func (c *rank1) blame(seen error) error {
	if seen != nil && !errors.Is(seen, nmad.ErrPeerLost) {
		return seen
	}
	select {
	case <-c.exited():
		if err := c.verdict(); err != nil {
			return err
		}
		return fmt.Errorf("rank 1 (pid %d) left before the end", c.job.PID(1))
	case <-time.After(causeWait):
		return seen
	}
}
