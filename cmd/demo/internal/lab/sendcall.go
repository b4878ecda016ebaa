package lab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/veth"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/sched/topo"
)

// standardSend is E24, aroundComputation E25, and receiveCall E26: how long the caller is inside a send, inside the
// wait for it, and inside a receive, with a worker and without.
var (
	standardSend = Experiment{
		Name: "E24", Lasts: 60 * time.Second, Title: "time inside a standard send at 100 Mbit/s: a worker beside progress inside calls only",
		Paper: "MPI-MT fig. 5-6", Published: "with a worker always lower; without, it jumps at the rendezvous threshold (50 us at 10 KB, the whole transfer past 64 KB)",
		Iters: 10, Rounds: 5, Linked: true, Parts: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runCalls(ctx, o, s, callSeries{calls: []string{"Send"}, peer: "send"})
		},
	}
	aroundComputation = Experiment{
		Name: "E25", Lasts: 200 * time.Second, Title: "Isend, a computation, Wait at 100 Mbit/s: a worker beside progress inside calls only",
		Paper: "MPI-MT table 1", Published: "Wait 15 us with a worker for all sizes; without, from 128 KB on the whole transfer",
		Iters: 5, Rounds: 5, Linked: true, Parts: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runCalls(ctx, o, s, callSeries{calls: []string{"Isend", "Wait"}, peer: "isend", compute: coveredBy})
		},
	}
	receiveCall = Experiment{
		Name: "E26", Lasts: 200 * time.Second, Title: "time inside a receive at 100 Mbit/s, posted after and before the arrival: a worker beside progress inside calls only",
		Paper: "MPI-MT fig. 7", Published: "after the arrival dozens of us; before, long for large messages",
		Iters: 5, Rounds: 5, Linked: true, Parts: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runCalls(ctx, o, s,
				callSeries{calls: []string{"Recv after the arrival"}, peer: "late", compute: coveredBy, receives: true},
				callSeries{calls: []string{"Recv before the arrival"}, peer: "early", receives: true})
		},
	}
)

// callSeries is calls of rank 0 that belong to one message.
type callSeries struct {
	calls    []string
	peer     string        // the same in test/peers/src/calls_mpi.c
	compute  time.Duration // between Isend and Wait; before the receive, while the message comes
	receives bool          // rank 0 does
}

const (
	kindSendCall  = "send call"
	kindRecvCall  = "receive call"
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

// runCalls measures them for messages of all sizes, ours and the peers'.
func runCalls(ctx context.Context, o Options, s *Sink, all ...callSeries) error {
	if !veth.Inside() {
		return allSkipped(s, network(sendCallMbps), veth.Missing().Error())
	}
	return onLink(ctx, o, s, []setting{openMPITCP, mpichTCP}, func(ol *overlapLab) error {
		if err := ol.link.Shape(sendCallMbps); err != nil {
			return err
		}
		return ol.calls(ctx, o, s, all)
	})
}

// calls measures the series over a link, and draws them.
func (ol *overlapLab) calls(ctx context.Context, o Options, s *Sink, all []callSeries) error {
	var variants []Variant
	var calls []string
	remark := "a time is that inside the call; a receive is posted before each send"
	for _, x := range all {
		for call, name := range x.calls {
			calls = append(calls, name)
			for _, bytes := range sendCallSizes {
				base, at := len(variants), float64(bytes)
				add := func(who, where string, measure func() ([]float64, error)) {
					variants = append(variants, Variant{Name: name, Variant: who, Base: base, Parameter: "size, B", Value: &at, Where: "tcp, 100 Mbit/s; " + where, Measure: measure})
				}
				for i := range sendCallers {
					add(sendCallers[i].name, sendCallers[i].where, func() ([]float64, error) { return ourCalls(ctx, ol.pair, i, bytes, o.Iters, x, call) })
				}
				for _, m := range ol.beside {
					if x.compute > 0 && m == mpichTCP {
						continue // it comes to no end between two name spaces if a rank computes
					}
					add(m.title, "a core for each rank, on which it polls", func() ([]float64, error) {
						lines, err := ol.peers.job(ctx, m, ol.link, "calls_mpi", x.peer, "-s", strconv.Itoa(bytes), "-i", strconv.Itoa(o.Iters), "-t", strconv.FormatInt(int64(x.compute), 10), "-c", ol.cpus)
						if err == nil && len(lines) != len(x.calls) {
							err = fmt.Errorf("%s printed %d lines, want %d", m.title, len(lines), len(x.calls))
						}
						if err != nil {
							return nil, err
						}
						return lines[call], nil
					})
				}
			}
		}
		if x.compute > 0 {
			remark += "; the computation before " + x.calls[len(x.calls)-1] + " takes " + x.compute.String()
		}
	}
	rows, err := measure(ctx, o, s, variants, remark)
	if err != nil {
		return err
	}
	return drawCalls(s, calls, rows)
}

// ourCalls is a round of ours: the time inside one of the calls, of each message.
func ourCalls(ctx context.Context, p *duo.Pair, caller, bytes, iters int, x callSeries, call int) ([]float64, error) {
	order, one := duo.Order{Kind: kindSendCall, Iters: iters, Size: bytes, Count: caller}, x.send
	if x.receives {
		order.Kind, one = kindRecvCall, x.receive
	}
	return onPair(ctx, p, sendCallers[caller].setup, order, func(w *duo.World) (samples []float64, err error) {
		g, err := sendCallers[caller].gate(w, p.CPUs[0], p.CPUs[1])
		if err != nil {
			return nil, err
		}
		buf, steps := make([]byte, bytes), int64(float64(x.compute)*workRate())
		for i := range iters + 1 {
			ns, err := one(w.Gate, g, buf, byte(i), steps)
			if err != nil {
				return nil, err
			}
			if i > 0 { // the first one makes links
				samples = append(samples, ns[call])
			}
		}
		return samples, nil
	})
}

// send times one message, whose first byte is mark, from this rank over g; over words the ranks tell each other when.
func (cs callSeries) send(words, g *nmad.Gate, buf []byte, mark byte, steps int64) (ns [2]float64, err error) {
	buf[0] = mark
	if _, err := words.Recv(readyTag, nil); err != nil {
		return ns, err
	}
	if cs.compute == 0 {
		ns[0], err = timed(func() error { return g.Send(dataTag, buf) })
	} else {
		var r *nmad.Request
		ns[0], _ = timed(func() error { r = g.Isend(dataTag, buf); return nil })
		workSteps(steps)
		ns[1], err = timed(r.Wait)
	}
	if err == nil {
		_, err = words.Recv(haveTag, nil)
	}
	return ns, err
}

// receive times one message to this rank.
func (cs callSeries) receive(words, g *nmad.Gate, buf []byte, mark byte, steps int64) (ns [2]float64, err error) {
	if err := words.Send(readyTag, nil); err != nil {
		return ns, err
	}
	if cs.compute > 0 {
		workSteps(steps)
	}
	n := 0
	ns[0], err = timed(func() (err error) { n, err = g.Recv(dataTag, buf); return err })
	if err == nil && (n != len(buf) || buf[0] != mark) {
		err = fmt.Errorf("message %d is damaged: %d bytes that begin with %d", mark, n, buf[0])
	}
	return ns, err
}

// timed is how long a call takes, in ns.
func timed(call func() error) (float64, error) {
	began := asm.Cycles()
	err := call()
	return float64(asm.Nanos(asm.Cycles() - began)), err
}

// callOther is rank 1's side. Its worker shares its core.
func callOther(w *duo.World, o *duo.Order) error {
	if o.Count < 0 || o.Count >= len(sendCallers) {
		return fmt.Errorf("there is no way %d of moving messages", o.Count)
	}
	cpu := o.Setup.CPUs[0]
	g, err := sendCallers[o.Count].gate(w, cpu, cpu)
	if err != nil {
		return err
	}
	one, buf := takeSent, make([]byte, o.Size)
	if o.Kind == kindRecvCall {
		one = sendWanted
	}
	for i := range o.Iters + 1 {
		if err := one(w.Gate, g, buf, byte(i)); err != nil {
			return err
		}
	}
	return nil
}

// sendWanted is the other side of receive.
func sendWanted(words, g *nmad.Gate, buf []byte, mark byte) error {
	if _, err := words.Recv(readyTag, nil); err != nil {
		return err
	}
	buf[0] = mark
	r := g.Isend(dataTag, buf)
	return r.Wait()
}

// takeSent is the other side of send.
func takeSent(words, g *nmad.Gate, buf []byte, mark byte) error {
	r := g.Irecv(dataTag, buf)
	if err := words.Send(readyTag, nil); err != nil {
		return err
	}
	if err := r.Wait(); err != nil {
		return err
	}
	if r.Len() != len(buf) || buf[0] != mark {
		return fmt.Errorf("message %d is damaged: %d bytes that begin with %d", mark, r.Len(), buf[0])
	}
	return words.Send(haveTag, nil)
}

// gate is the way to the other rank.
func (caller *sendCaller) gate(w *duo.World, own, other int) (*nmad.Gate, error) {
	if caller.domain == nil {
		return w.Gate, nil
	}
	c := caller.domain(own, other)
	c.Number = 1
	if w.Gate.Rank() == 0 && c.Progress == nmad.Worker {
		c.Worker.Spin = 0 // that of rank 1 sleeps
	}
	d, err := w.Session.Domain(c)
	if err != nil {
		return nil, err
	}
	return d.Gate(w.Gate.Rank()), nil
}

// drawCalls draws a panel for each call.
func drawCalls(s *Sink, calls []string, all []Row) error {
	if s.Plot == nil {
		return nil
	}
	var panels []figure.Panel
	for _, call := range calls {
		p := figure.Panel{X: "bytes", Y: "time inside " + call, Times: true}
		for _, bytes := range sendCallSizes {
			p.Places = append(p.Places, size.Format(bytes))
		}
		for _, r := range all {
			if r.Name != call {
				continue
			}
			p.Curve(r.Variant).Add(r.Median, r.Q1, r.Q3)
		}
		p.Curves = slices.DeleteFunc(p.Curves, func(c figure.Curve) bool { return len(c.Y) != len(p.Places) }) // some rows were not measured
		panels = append(panels, p)
	}
	return figure.Curves(s.Plot, s.Title("time inside calls, tcp, 100 Mbit/s"), panels...)
}
