package duo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// Many runs n further pairs of processes, all at once, and returns what each has written to its standard output, by
// rank. Rank k, below n, has its gate to rank n+k; it runs on the CPU of this process, the other one on that of rank 1.
// Each makes a World of the setup and carries the order out, as rank 1 does. It blocks until all have ended; once ctx
// is done, it kills them and fails.
func (p *Pair) Many(ctx context.Context, n int, o Order) ([][]byte, error) {
	if p.Far != "" {
		return nil, fmt.Errorf("this starts processes on one host, and the ranks 0 and 1 are %s", p.Far)
	}
	text, err := json.Marshal(errand{CPUs: p.CPUs, Bind: p.Apart, Order: &o})
	if err != nil {
		return nil, fmt.Errorf("tell %d pairs of processes what to do: %w", n, err)
	}
	out := make([]bytes.Buffer, 2*n)
	job, err := launch.Start(launch.Spec{
		N: 2 * n, Env: []string{envRank1 + "=" + string(text)}, Driver: o.Setup.Driver, Strategy: o.Setup.Strategy, Link: nmad.LinkLazy, Unbound: true,
		Stdout: func(rank int) io.Writer { return &out[rank] },
	})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, job.Kill)
	err = job.Wait()
	if stop(); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%d pairs of processes: %w", n, err)
	}
	outputs := make([][]byte, len(out))
	for rank := range out {
		outputs[rank] = out[rank].Bytes()
	}
	return outputs, nil
}

// oneOfMany is the whole of a process that Many has started.
func oneOfMany(ctx context.Context, config nmad.Config, e *errand, act func(*World, *Order) error) error {
	o, half := e.Order, config.Size/2
	c := o.Setup
	c.CPUs, c.Free = []int{e.cpu(&config)}, !e.Bind
	return stage(c, new(atomic.Bool), func(w *World) (err error) {
		config.Engine, config.Spin, config.SharedCPUs = w.Engine, c.Spin, c.SharedCPUs
		session, err := nmad.Open(ctx, config)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, session.Close()) }()
		w.Session, w.Gate = session, session.Gate((config.Rank+half)%config.Size)
		return w.inThread(func(w *World) error { return act(w, o) })
	})
}
