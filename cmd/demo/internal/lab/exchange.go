package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// exchanges is E27: N threads of either process, in pairs, beside as many pairs of processes.
var exchanges = Experiment{
	Name:      "E27",
	Lasts:     40 * time.Second,
	Title:     "N pairs of threads that exchange messages at once, beside N pairs of processes",
	Paper:     "IY14 fig. 3",
	Published: "threads of one MPI process are up to 41 times slower than processes at 8 B and 24 threads, 12 times at 2 KiB, as fast at 2 MiB; with a domain each within 8 % of processes",
	Iters:     100000,
	Rounds:    5,
	Pair:      true,
	Run: func(ctx context.Context, o Options, s *Sink) error {
		remarks := []string{"either side of a pair starts a send and a receive and waits for both; a time is half of that; all pairs play at once, on one core per side",
			"N threads of a process beside N processes on the same cores: ours/peer is of the first variant to each other one, by paced times"}
		var all []*crowd
		for _, x := range []struct {
			name  string
			size  int
			share int
		}{{"8 B", 8, 1}, {"2 KiB", 2 << 10, 5}, {"2 MiB", 2 << 20, 500}} {
			all = append(all, &crowd{
				name: "exchange, " + x.name, mode: "exchange", size: x.size, share: x.share, threads: powers(8), peers: []setting{openMPIYield, openMPIUCX, mpich},
				paced: true, players: true, toFirst: true, axis: "pairs, " + x.name, remarks: remarks,
				ours: []crowdVariant{
					{"threads, a private domain each", duo.Setup{Hooked: true}, exchangeAs(kindPrivate)},
					{"threads, a shared domain each", duo.Setup{Hooked: true}, exchangeAs(kindShared)},
					{"threads, the gate of the job", duo.Setup{Hooked: true}, exchangeAs(kindOneGate)},
					{"OS threads, a private domain each", duo.Setup{Plain: true}, exchangeAs(kindPrivate)},
					{"processes", duo.Setup{Hooked: true}, exchangeProcesses},
				},
			})
		}
		return runCrowds(ctx, o, s, "N pairs exchange messages", all...)
	},
}

const (
	kindDomains   = "exchange, some domains for all threads"
	kindPrivate   = "exchange, a private domain for each thread"
	kindShared    = "exchange, a shared domain for each thread"
	kindOneGate   = "exchange, the gate of the job"
	kindProcesses = "exchange, one of many processes"

	warmTag = 1 // of processes: one has warmed up, all have
)

// exchangeAs exchanges messages between n threads of either rank, which use the domains that the kind of order says.
func exchangeAs(kind string) func(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (crowdSample, error) {
	return exchangeOver(kind, 0)
}

// exchangeOver is exchangeAs with so many domains that they share.
func exchangeOver(kind string, domains int) func(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (crowdSample, error) {
	return func(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (x crowdSample, err error) {
		c.Driver = "shm"
		mine, theirs := setups(p, c)
		if len(c.CPUs) > 1 { // all of which either rank uses, the other one too
			mine.CPUs, theirs.CPUs = c.CPUs, slices.Clone(c.CPUs)
			slices.Reverse(theirs.CPUs)
			mine.SharedCPUs, theirs.SharedCPUs = true, true
		}
		o := duo.Order{Kind: kind, Setup: theirs, Iters: iters, Size: size, Count: n, Domains: domains}
		err = p.Do(ctx, o, mine, func(w *duo.World) (err error) {
			warm := marcel.NewBarrier(n)
			t, err := exchangeThreads(w, &o, func() error { warm.Wait(); return nil })
			x = crowdSample{ns: t.NS, elapsed: float64(asm.Nanos(t.Ended - t.Began)), players: n}
			return err
		})
		return x, err
	}
}

// exchangeProcesses does it with n processes for each rank.
func exchangeProcesses(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (crowdSample, error) {
	c.Driver, c.SharedCPUs = "shm", n > 1 || p.Shared()
	all, err := processes[tally](ctx, p, n, n, duo.Order{Kind: kindProcesses, Setup: c, Iters: max(iters/n, 1), Size: size, Count: 1})
	if err != nil {
		return crowdSample{}, err
	}
	x := crowdSample{players: n, elapsed: elapsed(all)}
	for _, t := range all {
		x.ns = append(x.ns, t.NS...)
	}
	return x, nil
}

// processes has as many pairs of processes carry an order out, each with a pair of one thread, and returns what the
// first n of the processes have measured.
func processes[T any](ctx context.Context, p *duo.Pair, pairs, n int, o duo.Order) ([]T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, peerPatience, fmt.Errorf("%w than %v", errSlow, peerPatience))
	defer cancel()
	outputs, err := p.Many(ctx, pairs, o)
	if err != nil {
		return nil, err
	}
	all := make([]T, n)
	for rank := range all {
		if err := json.Unmarshal(outputs[rank], &all[rank]); err != nil {
			return nil, fmt.Errorf("what rank %d of %d pairs of processes has measured: %w", rank, pairs, err)
		}
	}
	return all, nil
}

// tally is what a process has measured. Began and Ended are of the cycle counter, which all cores of a host share.
type tally struct {
	Began int64     `json:"began"`
	Ended int64     `json:"ended"`
	NS    []float64 `json:"ns"` // half of each exchange
}

// elapsed is the time from the first begin to the last end, in ns.
func elapsed(all []tally) float64 {
	began := slices.MinFunc(all, func(a, b tally) int { return cmp.Compare(a.Began, b.Began) }).Began
	ended := slices.MaxFunc(all, func(a, b tally) int { return cmp.Compare(a.Ended, b.Ended) }).Ended
	return float64(asm.Nanos(ended - began))
}

// exchangeOther is rank 1's part, or that of one of many processes.
func exchangeOther(w *duo.World, o *duo.Order) error {
	t, err := exchangeThreads(w, o, func() error { return awaitAll(w.Session) })
	if err != nil || o.Kind != kindProcesses || w.Session.Rank() >= w.Session.Size()/2 {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(t)
}

// awaitAll waits, in the first half of the ranks, until each of them is there.
func awaitAll(s *nmad.Session) error {
	var b [1]byte
	if s.Rank() > 0 {
		if err := s.Gate(0).Send(warmTag, b[:]); err != nil {
			return err
		}
		_, err := s.Gate(0).Recv(warmTag, b[:])
		return err
	}
	for rank := 1; rank < s.Size()/2; rank++ {
		if _, err := s.Gate(rank).Recv(warmTag, b[:]); err != nil {
			return err
		}
	}
	for rank := 1; rank < s.Size()/2; rank++ {
		if err := s.Gate(rank).Send(warmTag, b[:]); err != nil {
			return err
		}
	}
	return nil
}

// exchangeThreads has each thread of this process exchange messages with its own of the other one. They share the
// iterations. Of a rank of the first half each calls warm when it has warmed up, and time begins when that has
// returned.
func exchangeThreads(w *duo.World, o *duo.Order, warm func() error) (t tally, err error) {
	n := o.Count
	leads := 2*w.Session.Rank() < w.Session.Size()
	one := w.Gate
	var shared *nmad.Domain // of several threads
	if access, is := map[string]nmad.Access{kindSerialized: nmad.Serialized, kindFine: nmad.Fine}[o.Kind]; is && (leads || o.Kind == kindSerialized) {
		if shared, err = w.Session.Domain(nmad.DomainConfig{Number: 1, Access: access}); err != nil {
			return t, err
		}
		one = shared.Gate(w.Gate.Rank())
	}
	ones := []*nmad.Gate{one}
	if o.Kind == kindDomains {
		ones = nil
		for i := range o.Domains {
			d, err := w.Session.Domain(nmad.DomainConfig{Number: 1 + i, Access: nmad.Serialized})
			if err != nil {
				return t, err
			}
			ones = append(ones, d.Gate(w.Gate.Rank()))
		}
	}
	all, began := make([][]float64, n), make([]int64, n)
	err = threads(w, n, "player", func(k int) error {
		g, err := gateOf(w, ones[k%len(ones)], shared, o.Kind, k)
		if err == nil {
			x := trade{g: g, tag: fanTag + uint64(k), size: o.Size, iters: max(o.Iters/n, 1)}
			if leads {
				all[k], err = x.lead(func() error {
					err := warm()
					began[k] = asm.Cycles()
					return err
				})
			} else {
				err = x.follow()
			}
		}
		if leads && began[k] == 0 { // it failed before: the other threads are not to wait for it
			err = errors.Join(err, warm())
		}
		return err
	})
	return tally{Began: slices.Min(began), Ended: asm.Cycles(), NS: slices.Concat(all...)}, err
}

// gateOf is where player k, whose thread calls it, exchanges messages: one is that of all if each has none of its own.
func gateOf(w *duo.World, one *nmad.Gate, shared *nmad.Domain, kind string, k int) (*nmad.Gate, error) {
	c := nmad.DomainConfig{Number: 1 + k}
	switch kind {
	case kindFine:
		if shared != nil {
			return shared.To(w.Gate.Rank(), 1+k), nil
		}
		d, err := w.Session.Domain(c)
		if err != nil {
			return nil, err
		}
		return d.To(w.Gate.Rank(), 1), nil
	case kindPrivate:
		c.Access = nmad.Private
	case kindShared:
	default:
		return one, nil
	}
	d, err := w.Session.Domain(c)
	if err != nil {
		return nil, err
	}
	return d.Gate(w.Gate.Rank()), nil
}

// trade is a thread's, with one of the other process.
type trade struct {
	g             *nmad.Gate
	tag           uint64
	size, iters   int
	out, in       []byte
	sent, arrived nmad.Request
}

func (tr *trade) begin() { tr.out, tr.in = make([]byte, tr.size+1), make([]byte, tr.size+1) }

// one sends n bytes while it receives as many as come. Number i is in the first byte of either message.
func (tr *trade) one(i, n int) (int, error) {
	tr.out[0] = byte(i)
	err := tr.g.IrecvInto(&tr.arrived, tr.tag, tr.in)
	if err == nil {
		if err = tr.g.IsendInto(&tr.sent, tr.tag, tr.out[:n]); err == nil {
			err = errors.Join(tr.arrived.Wait(), tr.sent.Wait())
		}
	}
	if err != nil {
		return 0, fmt.Errorf("exchange %d: %w", i, err)
	}
	if m := tr.arrived.Len(); m < tr.size || tr.in[0] != byte(i) {
		return 0, fmt.Errorf("exchange %d is damaged: %d bytes that begin with %d", i, m, tr.in[0])
	}
	return tr.arrived.Len(), nil
}

// lead exchanges messages with one that follows, and returns half of the time of each. The last message is longer than
// agreed.
func (tr *trade) lead(warm func() error) ([]float64, error) {
	tr.begin()
	before := warmup(tr.iters)
	samples := make([]float64, 0, tr.iters)
	overhead, end, ns := stat.ClockOverhead(), asm.Cycles()+asm.ToCycles(int64(longest)), nsPerCycle()
	i := 0
	for ; i < before+tr.iters; i++ {
		if i == before {
			if err := warm(); err != nil {
				return nil, err
			}
		}
		t0 := asm.Cycles()
		if _, err := tr.one(i, tr.size); err != nil {
			return nil, err
		}
		t1 := asm.Cycles()
		if i >= before {
			samples = append(samples, float64(max(t1-t0-overhead, 1))*ns/2)
		}
		if t1 > end && len(samples) >= min(leastSamples, tr.iters) {
			i++
			break
		}
	}
	_, err := tr.one(i, tr.size+1)
	return samples, err
}

func (tr *trade) follow() error {
	tr.begin()
	for i := 0; ; i++ {
		if n, err := tr.one(i, tr.size); err != nil || n > tr.size {
			return err
		}
	}
}
