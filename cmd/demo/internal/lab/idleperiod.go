package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/nmad"
)

// idlePeriod is E13: what idle cores that poll cost a message.
var idlePeriod = Experiment{
	Name:      "E13",
	Lasts:     50 * time.Second,
	Title:     "1-byte latency against the idle polling period",
	Paper:     "D15 fig. 2-3",
	Published: "from 10 us on the idle pollers are negligible; shorter periods raise median and average, not the best",
	Iters:     300000,
	Rounds:    7,
	Parts:     true,
	Pair:      true,
	Run:       runIdlePeriod,
}

// latencyPeriods are what E13 varies, in us.
var latencyPeriods = []float64{0, 1, 2, 5, 10, 20, 50, 100, 1000, 10000}

func runIdlePeriod(ctx context.Context, o Options, s *Sink) error {
	a, b, two := binding.Pair(o.CPUs)
	if !two {
		return allSkipped(s, "idle pollers", "they need a CPU beside that of the application, and this process may use one only")
	}
	return between(ctx, o, s, func(p *duo.Pair) error {
		var variants []Variant
		alone := func(c duo.Setup, pollers bool, polls *float64) (samples []float64, err error) {
			c.CPUs = []int{a, b}
			err = duo.Alone(ctx, c, func(w *duo.World) error {
				return withPending(w, w.Far, w.Gate, pollers, polls, func() (err error) {
					samples, err = toOurselves(w, o.Iters)
					return err
				})
			})
			return samples, err
		}
		series := []struct {
			name, short, where string
			measure            func(c duo.Setup, pollers bool, polls *float64) ([]float64, error)
		}{
			{"self", "one process, idle VP", "one process: both ends of the connection in one thread on one core, an idle VP on the other", alone},
			{"pair", "two processes, oversubscribed", "two processes, oversubscribed: on each core one's application and the other's idle VP",
				func(c duo.Setup, pollers bool, polls *float64) ([]float64, error) {
					return beside(ctx, p, c, o.Iters, pollers, polls)
				}},
		}
		for _, x := range series {
			base := len(variants) + len(latencyPeriods) // the longest period: the curve's flat end
			add := func(name string, period *float64, c duo.Setup, pollers bool) {
				c.Driver, c.Hooked, c.Spin = "shm", true, time.Second
				polls := new(float64)
				variants = append(variants, Variant{
					Polls: polls,
					Name:  x.name, Variant: name, Parameter: "idle polling period, us", Value: period, Base: base, Where: x.where,
					Measure: func() ([]float64, error) { return x.measure(c, pollers, polls) },
				})
			}
			add(x.name+", no idle pollers", nil, duo.Setup{}, false)
			for i := range latencyPeriods {
				add(fmt.Sprintf("%s, idle period %g us", x.name, latencyPeriods[i]), &latencyPeriods[i], duo.Setup{Params: polling(latencyPeriods[i])}, true)
			}
		}
		all, err := measure(ctx, o, s, variants, "1 byte one way over shm; the application spins, idle VPs poll for another receive that is pending")
		if err != nil || s.Plot == nil {
			return err
		}
		n := len(all) / len(series)
		var panels []figure.Panel
		for i, x := range series {
			panels = append(panels, curvesOf(all[i*n:(i+1)*n], "idle polling period (us); "+x.short, "one-way latency"))
		}
		return figure.Curves(s.Plot, s.Title("idle polling period"), panels...)
	})
}

// toOurselves sends messages from one end of a connection to the other, in one thread.
func toOurselves(w *duo.World, iters int) ([]float64, error) {
	return ping(&echo{w.Gate, w.Far, make([]byte, 2)}, 1, iters)
}

// echo is both ends of a connection as one wire: what is sent comes back from the other end.
type echo struct {
	near, far *nmad.Gate
	buf       []byte
}

// Send implements wire.
func (e *echo) Send(tag uint64, buf []byte) error {
	if len(buf) == len(e.buf) { // the end, for the other process that there is none
		return nil
	}
	return e.near.Send(tag, buf)
}

// Recv implements wire.
func (e *echo) Recv(tag uint64, buf []byte) (int, error) {
	n, err := e.far.Recv(tag, e.buf)
	if err == nil {
		err = e.far.Send(tag, e.buf[:n])
	}
	if err != nil {
		return 0, err
	}
	return e.near.Recv(tag, buf)
}

const kindBeside = "latency beside idle pollers"

// beside is latency with an idle VP of each process on the other one's core.
func beside(ctx context.Context, p *duo.Pair, c duo.Setup, iters int, pollers bool, polls *float64) (samples []float64, err error) {
	mine, theirs := setups(p, c)
	mine.CPUs, theirs.CPUs = []int{p.CPUs[0], p.CPUs[1]}, []int{p.CPUs[1], p.CPUs[0]}
	o := duo.Order{Kind: kindBeside, Setup: theirs, Iters: iters, Size: 1}
	if pollers {
		o.Count = 1
	}
	err = p.Do(ctx, o, mine, func(w *duo.World) error {
		return withPending(w, w.Gate, w.Gate, pollers, polls, func() (err error) {
			samples, err = ping(w.Gate, 1, iters)
			return err
		})
	})
	return samples, err
}

// pongBeside is rank 1's part.
func pongBeside(w *duo.World, o *duo.Order) error {
	return withPending(w, w.Gate, w.Gate, o.Count > 0, new(float64), func() error { return pong(w.Gate, latencyTag, o.Size) })
}
