package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/veth"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/sched/topo"
)

// standardSend is E24, and aroundComputation E25: how long the caller is inside a send, and inside the wait for it, with a worker and without.
var (
	standardSend = Experiment{
		Name: "E24", Lasts: 12 * time.Second, Title: "time inside a standard send at 100 Mbit/s: a worker beside progress inside calls only",
		Paper: "MPI-MT fig. 5-6", Published: "with a worker always lower; without, it jumps at the rendezvous threshold (50 us at 10 KB, the whole transfer past 64 KB)",
		Iters: 10, Rounds: 5, Linked: true, Parts: true,
		Run: func(ctx context.Context, o Options, s *Sink) error { return runSendCalls(ctx, o, s, 0) },
	}
	aroundComputation = Experiment{
		Name: "E25", Lasts: 70 * time.Second, Title: "Isend, a computation, Wait at 100 Mbit/s: a worker beside progress inside calls only",
		Paper: "MPI-MT table 1", Published: "Wait 15 us with a worker for all sizes; without, from 128 KB on the whole transfer",
		Iters: 5, Rounds: 5, Linked: true, Parts: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runSendCalls(ctx, o, s, coveredBy)
		},
	}
)

const (
	kindSendCall  = "send call"
	sendCallMbps  = 100
	coveredBy     = 100 * time.Millisecond // longer than the largest message takes
	sendCallEager = 64 << 10               // the papers' threshold
)

var sendCallSizes = []int{10, 1 << 10, 10 << 10, 64 << 10, 128 << 10, 512 << 10}

// sendCaller is one way of moving messages.
type sendCaller struct {
	name, where string
	setup       duo.Setup
	domain      func(own, other int) nmad.DomainConfig // of a rank on the one CPU, with the other rank on the other; nil: the job
}

var sendCallers = []sendCaller{
	{"inside calls only", "no engine; eager to 64 KiB", duo.Setup{Driver: "tcp"},
		func(int, int) nmad.DomainConfig {
			return nmad.DomainConfig{Progress: nmad.Explicit, Eager: sendCallEager}
		}},
	{"a worker that sleeps", "on its caller's core", duo.Setup{Driver: "tcp", Hooked: true},
		func(own, _ int) nmad.DomainConfig {
			return nmad.DomainConfig{Progress: nmad.Worker, Worker: nmad.WorkerConfig{CPUs: topo.CPUs(own)}}
		}},
	{"a worker that polls", "on the other rank's core: oversubscribed", duo.Setup{Driver: "tcp", Hooked: true},
		func(_, other int) nmad.DomainConfig {
			return nmad.DomainConfig{Progress: nmad.Worker, Worker: nmad.WorkerConfig{CPUs: topo.CPUs(other), Spin: -1}}
		}},
	{"the engine", "on its caller's core", duo.Setup{Driver: "tcp", Hooked: true}, nil},
}

// runSendCalls measures sends with a computation behind them, or none.
func runSendCalls(ctx context.Context, o Options, s *Sink, compute time.Duration) (err error) {
	if !veth.Inside() {
		return allSkipped(s, network(sendCallMbps), veth.Missing().Error())
	}
	link, err := veth.New()
	if err != nil {
		return err
	}
	defer link.Close()
	if err := link.Shape(sendCallMbps); err != nil {
		return err
	}
	pair, err := duo.StartOn(ctx, duo.Net{Addrs: veth.Addrs, Enter: link.Enter()}, o.CPUs, s.Warn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pair.Close()) }()
	calls := []string{"Send"}
	if compute > 0 {
		calls = []string{"Isend", "Wait"}
	}
	var variants []Variant
	for call, name := range calls {
		for _, bytes := range sendCallSizes {
			base, at := len(variants), float64(bytes)
			for i := range sendCallers {
				variants = append(variants, Variant{
					Name: name, Variant: sendCallers[i].name, Base: base, Parameter: "size, B", Value: &at, Where: "tcp, 100 Mbit/s; " + sendCallers[i].where,
					Measure: func() ([]float64, error) { return sendCalls(ctx, pair, i, bytes, o.Iters, compute, call) },
				})
			}
		}
	}
	remark := "a receive is posted before each send; a time is that inside the call"
	if compute > 0 {
		remark += ", with a computation of " + compute.String() + " between Isend and Wait"
	}
	all, err := measure(ctx, o, s, variants, remark)
	if err != nil {
		return err
	}
	return drawSendCalls(s, calls, all)
}

// sendCalls is a round: the time inside one of the calls, of each message.
func sendCalls(ctx context.Context, p *duo.Pair, caller, bytes, iters int, compute time.Duration, call int) (samples []float64, err error) {
	mine, theirs := setups(p, sendCallers[caller].setup)
	order := duo.Order{Kind: kindSendCall, Setup: theirs, Iters: iters, Size: bytes, Count: caller}
	err = p.Do(ctx, order, mine, func(w *duo.World) error {
		g, err := sendCallers[caller].gate(w, p.CPUs[0], p.CPUs[1])
		if err != nil {
			return err
		}
		buf, steps := make([]byte, bytes), int64(float64(compute)*workRate())
		for i := range iters + 1 {
			buf[0] = byte(i)
			if _, err := w.Gate.Recv(readyTag, nil); err != nil {
				return err
			}
			var ns [2]float64
			if compute == 0 {
				ns[0], err = timed(func() error { return g.Send(dataTag, buf) })
			} else {
				var r *nmad.Request
				ns[0], _ = timed(func() error { r = g.Isend(dataTag, buf); return nil })
				workSteps(steps)
				ns[1], err = timed(r.Wait)
			}
			if err != nil {
				return err
			}
			if _, err := w.Gate.Recv(haveTag, nil); err != nil {
				return err
			}
			if i > 0 { // the first one makes links
				samples = append(samples, ns[call])
			}
		}
		return nil
	})
	return samples, err
}

// timed is how long a call takes, in ns.
func timed(call func() error) (float64, error) {
	began := asm.Cycles()
	err := call()
	return float64(asm.Nanos(asm.Cycles() - began)), err
}

// sendCallOther is rank 1's side. Its worker shares its core.
func sendCallOther(w *duo.World, o *duo.Order) error {
	if o.Count < 0 || o.Count >= len(sendCallers) {
		return fmt.Errorf("there is no way %d of moving messages", o.Count)
	}
	cpu := o.Setup.CPUs[0]
	g, err := sendCallers[o.Count].gate(w, cpu, cpu)
	if err != nil {
		return err
	}
	buf := make([]byte, o.Size)
	for i := range o.Iters + 1 {
		r := g.Irecv(dataTag, buf)
		if err := w.Gate.Send(readyTag, nil); err != nil {
			return err
		}
		if err := r.Wait(); err != nil {
			return err
		}
		if r.Len() != o.Size || buf[0] != byte(i) {
			return fmt.Errorf("message %d is damaged: %d bytes that begin with %d", i, r.Len(), buf[0])
		}
		if err := w.Gate.Send(haveTag, nil); err != nil {
			return err
		}
	}
	return nil
}

// gate is the way to the other rank.
func (x *sendCaller) gate(w *duo.World, own, other int) (*nmad.Gate, error) {
	if x.domain == nil {
		return w.Gate, nil
	}
	c := x.domain(own, other)
	c.Number = 1
	if w.Gate.Rank() == 0 && c.Progress == nmad.Worker {
		c.Worker.Spin = 0 // the receiver's sleeps
	}
	d, err := w.Session.Domain(c)
	if err != nil {
		return nil, err
	}
	return d.Gate(w.Gate.Rank()), nil
}

// drawSendCalls draws a panel for each call.
func drawSendCalls(s *Sink, calls []string, all []Row) error {
	if s.Plot == nil {
		return nil
	}
	var panels []figure.Panel
	for _, call := range calls {
		p := figure.Panel{X: "bytes", Y: "time inside " + call, Times: true}
		for _, bytes := range sendCallSizes {
			p.Places = append(p.Places, size.Format(bytes))
		}
		for i := range sendCallers {
			c := figure.Curve{Name: sendCallers[i].name}
			for _, r := range all {
				if r.Name == call && r.Variant == c.Name {
					c.Y, c.Low, c.High = append(c.Y, r.Median), append(c.Low, r.Q1), append(c.High, r.Q3)
				}
			}
			if len(c.Y) == len(p.Places) {
				p.Curves = append(p.Curves, c)
			}
		}
		panels = append(panels, p)
	}
	return figure.Curves(s.Plot, s.Title("time inside calls, tcp, 100 Mbit/s"), panels...)
}
