package pingpong

import (
	"context"
	"errors"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/nmad"
)

// InJob reports whether a process manager has started this process, as one of several.
func InJob() bool { return nmad.FindLauncher().Managed }

// releaseTag is that of the message by which rank 0 lets the ranks go that have no part in the exchange.
const releaseTag = 1 << 40

// RunInJob is Run in a job that a process manager has started: its ranks 0 and 1 exchange the messages, and the others
// wait until they are through. Only rank 0 uses the sink. It binds nothing that the manager has bound.
func RunInJob(ctx context.Context, o Options, sink Sink) (err error) {
	c, err := nmad.FromEnvironment()
	if err != nil {
		return err
	}
	if c.Size < 2 {
		return errors.New("the job has one process, and messages need two: start it with -n 2")
	}
	where := place{usable: len(binding.Allowed())}
	if where.usable > 1 && c.Rank < 2 {
		where = choosePlace(sink.Warn)
	}
	if err := where.bind(min(c.Rank, 1)); err != nil {
		return err
	}
	if err := where.configure(min(c.Rank, 1)); err != nil {
		return err
	}
	if c.Rank > 1 {
		o.Engine = None
	}
	stop, err := o.enable()
	if err != nil {
		return err
	}
	defer stop()
	c.Driver = o.Driver
	if c.Loans, err = o.loans(); err != nil {
		return err
	}
	session, err := nmad.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() {
		if e := session.Close(); err == nil {
			err = e
		}
	}()
	switch c.Rank {
	case 0:
		if err := sink.Begin(report.Detect(where.usable, 0), o.remark(), where.String()); err != nil {
			return err
		}
		if err := leadRows(ctx, &o, &where, sink, session.Gate(1)); err != nil {
			return err
		}
		for rank := 2; rank < c.Size; rank++ {
			if err := session.Gate(rank).Send(releaseTag, nil); err != nil {
				return err
			}
		}
	case 1:
		o.run(func() { err = followRows(session.Gate(0), &o) })
	default:
		err = session.Gate(0).Irecv(releaseTag, nil).WaitContext(ctx)
	}
	return err
}
