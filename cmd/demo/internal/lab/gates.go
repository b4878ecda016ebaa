package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// gates is how evenly a process serves many others.
var gates = Experiment{
	Name:      "gates",
	Lasts:     24 * time.Second,
	Title:     "shares of ten gates under load: one process beside ten ranks that all send, or all receive",
	Paper:     "none: what bounded polling rounds promise (TD09 algorithm 1)",
	Published: "no figure: each queue, and each gate, gets its turn",
	Iters:     300,
	Rounds:    5,
	Parts:     true,
	Pair:      true,
	Run:       runGates,
}

const (
	gateCount = 10
	kindGates = "gates"
	streamTag = 3000
	meetTag   = 3001
)

// GateRow is one network, size and direction.
type GateRow struct {
	Name      string   `json:"name"`
	Variant   string   `json:"variant"` // the threads that send
	Size      int      `json:"size"`
	Gates     int      `json:"gates"`
	Smallest  float64  `json:"smallest_per_ms"` // messages, of the gate with the fewest, median over the rounds
	Largest   float64  `json:"largest_per_ms"`
	Share     float64  `json:"share"` // smallest / largest of a round, median over the rounds
	Worst     float64  `json:"worst_share"`
	Bandwidth float64  `json:"bandwidth_MBps"` // of all gates
	Better    string   `json:"better"`         // which way the share is better
	ProbeNS   *float64 `json:"probe_ns"`
	Rounds    int      `json:"rounds"`
	Where     string   `json:"where"`
}

// Head implements report.Row.
func (GateRow) Head() string {
	return "# Share: messages of the gate with the fewest / of the one with the most, in one round; median and least over the rounds, higher is better.\n" +
		fmt.Sprintf("# %-40s %6s %12s %12s %7s %7s %10s %8s  %s", "Network, size: sending side", "Gates", "Fewest/ms", "Most/ms", "Share", "Least", "MB/s", "Probe ns", "Conditions")
}

// Line implements report.Row.
func (r GateRow) Line() string {
	return fmt.Sprintf("  %-40s %6d %12.2f %12.2f %7.3f %7.3f %10.0f %8s  %s", r.Name+": "+r.Variant, r.Gates, r.Smallest, r.Largest,
		r.Share, r.Worst, r.Bandwidth, perhaps(r.ProbeNS, 1), r.Where)
}

// load is one round: messages per ms of each gate.
type load []float64

// gateCase is what is measured.
type gateCase struct {
	driver string
	size   int
	out    bool // the one process sends
}

func (gc gateCase) direction() string {
	if gc.out {
		return "one to ten"
	}
	return "ten to one"
}

func (gc gateCase) label() string {
	return fmt.Sprintf("%s, %s: %s", gc.driver, size.Format(gc.size), gc.direction())
}

// gateCases are the cases that have a text in their labels.
func gateCases(text string) ([]gateCase, error) {
	var all []gateCase
	for _, driver := range []string{"shm", "tcp"} {
		for _, size := range []int{1, 4 << 10, 256 << 10} {
			for _, out := range []bool{false, true} {
				all = append(all, gateCase{driver, size, out})
			}
		}
	}
	return labeled(all, gateCase.label, text)
}

func runGates(ctx context.Context, o Options, s *Sink) error {
	cases, err := gateCases(o.Only)
	if err != nil {
		return err
	}
	if err := s.Begin("a thread per gate on either side, each sending, or receiving, as fast as it can for as many ms as --iters says",
		"the ten ranks are in one process, which has a core; so has the one process on the other side"); err != nil {
		return err
	}
	return between(ctx, o, s, func(p *duo.Pair) error {
		entrants := make([]entrant[load], len(cases))
		for i, c := range cases {
			entrants[i] = entrant[load]{c.label(), func() (load, error) { return c.measure(ctx, p, time.Duration(o.Iters)*time.Millisecond) }}
		}
		var bars []figure.Spread
		_, err := rowsInTurn(ctx, o, s, entrants, func(i int, of [][]load, probeNS *float64) GateRow {
			r := cases[i].row(of[i])
			r.ProbeNS, r.Where = probeNS, placeOf(p)
			bars = append(bars, cases[i].spread(of[i], r))
			return r
		})
		if err != nil || s.Plot == nil {
			return err
		}
		return figure.Spreads(s.Plot, s.Title("ten gates under load"), "time between two messages of a gate", bars)
	})
}

// row summarizes the rounds of a case.
func (gc gateCase) row(rounds []load) GateRow {
	var low, high, share, all []float64
	for _, l := range rounds {
		a, b, sum := slices.Min(l), slices.Max(l), 0.0
		for _, x := range l {
			sum += x
		}
		low, high, share, all = append(low, a), append(high, b), append(share, a/b), append(all, sum)
	}
	return GateRow{
		Name: gc.driver + ", " + size.Format(gc.size), Variant: gc.direction(), Size: gc.size, Gates: gateCount, Better: "higher", Rounds: len(rounds),
		Smallest: report.Significant(stat.Median(low)), Largest: report.Significant(stat.Median(high)),
		Share: report.Significant(stat.Median(share)), Worst: report.Significant(slices.Min(share)),
		Bandwidth: report.Significant(stat.Median(all) * float64(gc.size) / 1e3),
	}
}

// spread is the time between the messages of the gates.
func (gc gateCase) spread(rounds []load, r GateRow) figure.Spread {
	var ns []float64
	for _, l := range rounds {
		for _, x := range l {
			ns = append(ns, 1e6/max(x, 1e-3))
		}
	}
	t := stat.Summarize(ns)
	return figure.Spread{
		Name: r.Name + ": " + r.Variant, Best: t.Best, Q1: t.Q1, Median: t.Median, Q3: t.Q3, P99: t.P99,
		Remark: fmt.Sprintf("share %.2f", r.Share),
	}
}

// measure is one round.
func (gc gateCase) measure(ctx context.Context, p *duo.Pair, d time.Duration) (load, error) {
	o := duo.Order{Kind: kindGates, Size: gc.size}
	if gc.out {
		o.Count = 1
	}
	return onPair(ctx, p, duo.Setup{Driver: gc.driver, Hooked: true}, o, func(w *duo.World) (load, error) { return gc.one(ctx, w, d) })
}

// one is the one process: it opens a session of its own and counts.
func (gc gateCase) one(ctx context.Context, w *duo.World, d time.Duration) (l load, err error) {
	host, _, err := net.SplitHostPort(w.Listen)
	if err != nil {
		return nil, err
	}
	door, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 32)
	rand.Read(secret) // never fails
	if err := w.Gate.Send(meetTag, append(secret, door.Addr().String()...)); err != nil {
		return nil, errors.Join(err, door.Close())
	}
	s, err := nmad.Open(ctx, nmad.Config{
		Rank: 0, Size: 1 + gateCount, Secret: secret, Rendezvous: door.Addr().String(), Listener: door,
		Driver: gc.driver, Engine: w.Engine, Listen: w.Listen,
	})
	if err != nil {
		return nil, err
	}
	var counts [gateCount]atomic.Int64
	var end atomic.Bool
	errs := make([]error, gateCount)
	threads := make([]marcel.Thread, gateCount)
	for k := range threads {
		threads[k] = w.Sched.Spawn(marcel.Attr{Name: fmt.Sprint("gate ", k)}, func() {
			g := s.Gate(1 + k)
			if gc.out {
				errs[k] = stream(g, gc.size, &end, &counts[k])
			} else {
				errs[k] = drain(g, gc.size, &counts[k])
			}
		})
	}
	l, err = gc.count(ctx, &counts, d)
	end.Store(true)
	if !gc.out {
		for k := range threads { // the senders are told to end; what they have sent meanwhile is received
			err = errors.Join(err, s.Gate(1+k).Send(streamTag, nil))
		}
	}
	for k, t := range threads {
		err = errors.Join(err, t.Join(), errs[k])
	}
	return l, errors.Join(err, s.Close())
}

// count returns how many messages per ms each gate has, measured for d from when all have had one.
func (gc gateCase) count(ctx context.Context, counts *[gateCount]atomic.Int64, d time.Duration) (load, error) {
	for k := 0; k < gateCount; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if counts[k].Load() > 0 {
			k++
		} else {
			marcel.Sleep(time.Millisecond)
		}
	}
	var before [gateCount]int64
	for k := range before {
		before[k] = counts[k].Load()
	}
	began := time.Now()
	for time.Since(began) < d && ctx.Err() == nil {
		marcel.Sleep(min(d, 10*time.Millisecond))
	}
	ms := float64(time.Since(began)) / 1e6
	l := make(load, gateCount)
	for k := range l {
		l[k] = float64(counts[k].Load()-before[k]) / ms
	}
	return l, nil
}

// stream sends until end is set, and then a message that is longer than agreed.
func stream(g *nmad.Gate, size int, end *atomic.Bool, count *atomic.Int64) error {
	buf := make([]byte, size+1)
	for !end.Load() {
		if err := g.Send(streamTag, buf[:size]); err != nil {
			return err
		}
		count.Add(1)
	}
	return g.Send(streamTag, buf)
}

// drain receives until such a message comes.
func drain(g *nmad.Gate, size int, count *atomic.Int64) error {
	buf := make([]byte, size+1)
	for {
		n, err := g.Recv(streamTag, buf)
		if err != nil || n > size {
			return err
		}
		count.Add(1)
	}
}

// gatesOther is the process of the ten ranks. They receive if the order's Count is 1.
func gatesOther(w *duo.World, o *duo.Order) error {
	word := make([]byte, 256)
	n, err := w.Gate.Recv(meetTag, word)
	if err != nil {
		return err
	}
	if n <= 32 {
		return errors.New("no secret and address came")
	}
	ctx, cancel := context.WithTimeout(context.Background(), nmad.DefaultTimeout)
	defer cancel()
	var sessions [gateCount]*nmad.Session
	errs := make([]error, gateCount)
	var opening sync.WaitGroup
	for k := range sessions {
		opening.Go(func() {
			sessions[k], errs[k] = nmad.Open(ctx, nmad.Config{
				Rank: 1 + k, Size: 1 + gateCount, Secret: word[:32], Rendezvous: string(word[32:n]),
				Driver: o.Setup.Driver, Engine: w.Engine, Listen: w.Listen,
			})
		})
	}
	marcel.Blocking(opening.Wait)
	err = errors.Join(errs...)
	if err == nil {
		err = threads(w, gateCount, "session", func(k int) error {
			var count atomic.Int64
			if o.Count == 1 {
				return drain(sessions[k].Gate(0), o.Size, &count)
			}
			return streamUntilTold(w, sessions[k].Gate(0), o.Size, &count)
		})
	}
	var closing sync.WaitGroup
	for k, s := range sessions {
		if s != nil {
			closing.Go(func() { errs[k] = s.Close() })
		}
	}
	marcel.Blocking(closing.Wait)
	return errors.Join(err, errors.Join(errs...))
}

// streamUntilTold streams until the other side sends an empty message.
func streamUntilTold(w *duo.World, g *nmad.Gate, size int, count *atomic.Int64) error {
	var end atomic.Bool
	told := g.Irecv(streamTag, nil)
	t := w.Sched.Spawn(marcel.Attr{Name: "until told"}, func() {
		_ = told.Wait() // whatever it is, it is the end
		end.Store(true)
	})
	err := stream(g, size, &end, count)
	return errors.Join(err, t.Join())
}
