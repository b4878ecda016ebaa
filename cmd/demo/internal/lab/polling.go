package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
	"github.com/pm2-go/pm2/nmad/rma"
)

// handlerMask is E30: what the polling mask makes of the latency of active messages.
var handlerMask = Experiment{
	Name:      "E30",
	Lasts:     10 * time.Second,
	Title:     "active-message latency of each thread against the polling mask: the slowest one over the fastest",
	Paper:     "IY14 fig. 6",
	Published: "mask 1 to 511: the slowest thread is up to 76 times slower, the first one is unaffected",
	Iters:     1000,
	Rounds:    5,
	Pair:      true,
	Run:       runHandlerMask,
}

// getMask is E31: what looking after active messages costs a thread that gets.
var getMask = Experiment{
	Name:      "E31",
	Lasts:     20 * time.Second,
	Title:     "one-sided gets, each followed by a poll of the thread's domain, against the polling mask",
	Paper:     "IY14 fig. 7",
	Published: "mask 1 costs at most 2.73 times at the smallest size, nothing above 128 KB",
	Iters:     100000,
	Rounds:    5,
	Parts:     true,
	Pair:      true,
	Run:       runGetMask,
}

// masks are those of the paper; the first of them polls the other domains each time, the last ones every second, fourth
// time and so on.
var masks = []uint64{am.EachPoll, 1, 3, 7, 15, 31, 63, 127, 255, 511}

// maskOf is the mask as the axis has it.
func maskOf(mask uint64) float64 {
	if mask == am.EachPoll {
		return 0
	}
	return float64(mask)
}

const (
	kindHandlers    = "handlers of active messages"
	handlerThreads  = 4
	echoID          = am.ID(1)
	endID           = am.ID(2)
	privateHandlers = 1  // Order.Domains: all are
	defaultMask     = -1 // Order.Count
)

// MaskRow is the latency of the threads with one mask. Times are nanoseconds.
type MaskRow struct {
	Name    string    `json:"name"`
	Variant string    `json:"variant"`
	Mask    float64   `json:"mask"`      // 0: each poll polls the others, too; of Private domains: none does
	Threads []float64 `json:"median_ns"` // half a round trip of each thread, the first one's first
	First   float64   `json:"first_ns"`
	Slowest float64   `json:"slowest_ns"`
	Ratio   *float64  `json:"ratio"` // the slowest / the fastest, median of those within the rounds
	Better  string    `json:"better"`
	ProbeNS *float64  `json:"probe_ns"`
	Rounds  int       `json:"rounds"`
	Samples int       `json:"samples"` // of each thread in each round
	Where   string    `json:"where"`
}

// Head implements report.Row.
func (r MaskRow) Head() string { return r.BriefHead() }

// Line implements report.Row.
func (r MaskRow) Line() string {
	each := ""
	for _, t := range r.Threads {
		each += " " + report.Duration(t)
	}
	return r.BriefLine() + "  each:" + each + "; " + r.BriefNote()
}

// BriefHead implements report.Brief.
func (MaskRow) BriefHead() string {
	return "# Half a round trip, medians over the rounds. Ratio: the slowest thread / the fastest, lower is better.\n" +
		fmt.Sprintf("# %-40s %6s %9s %9s %7s", "Target's domains", "Mask", "First", "Slowest", "Ratio")
}

// BriefLine implements report.Brief.
func (r MaskRow) BriefLine() string {
	return fmt.Sprintf("  %-40s %6s %9s %9s %7s", r.Variant, strconv.FormatFloat(r.Mask, 'f', -1, 64), report.Duration(r.First), report.Duration(r.Slowest), perhaps(r.Ratio, 2))
}

// BriefNote implements report.Brief.
func (r MaskRow) BriefNote() string { return conditions(r.Name+"; "+r.Where, r.ProbeNS) }

func runHandlerMask(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		if err := s.Begin("each of 4 threads has a domain, and sends requests to the domain of the same number at the other process, one thread after the other",
			"there one thread polls, with the first domain: the other domains are polled at each poll that the mask says, private ones by their owners, in turn"); err != nil {
			return err
		}
		var entrants []entrant[[][]float64]
		var all []MaskRow
		add := func(variant string, mask uint64, private int) {
			all = append(all, MaskRow{Name: "active message, 8 B", Variant: variant, Mask: maskOf(cmp.Or(mask, 511)), Better: "lower", Where: placeOf(p) + "; no engine polls"})
			entrants = append(entrants, entrant[[][]float64]{variant, func() ([][]float64, error) {
				return handlerTrips(ctx, p, mask, private, o.Iters)
			}})
		}
		for _, mask := range masks {
			add("shared, one thread polls the first", mask, 0)
		}
		add("shared, the default: 511, and the neglected", 0, 0)
		add("private, each owner polls its own", am.EachPoll, privateHandlers)
		all, err := rowsInTurn(ctx, o, s, entrants, func(i int, of [][][][]float64, probeNS *float64) MaskRow {
			all[i].summarize(of[i])
			all[i].ProbeNS = probeNS
			return all[i]
		})
		if err != nil {
			return err
		}
		return drawMasks(s, all)
	})
}

// summarize fills in what the rounds came to: of[r][k] are the samples of thread k in round r.
func (r *MaskRow) summarize(of [][][]float64) {
	threads, ratios := make([][]float64, handlerThreads), []float64{}
	for _, round := range of {
		var medians []float64
		for k, samples := range round {
			m := stat.Summarize(samples).Median
			medians, threads[k] = append(medians, m), append(threads[k], m)
		}
		ratios = append(ratios, slices.Max(medians)/slices.Min(medians))
		r.Samples = len(round[0])
	}
	for _, t := range threads {
		r.Threads = append(r.Threads, report.Round(stat.Median(t)))
	}
	r.First, r.Slowest, r.Ratio, r.Rounds = r.Threads[0], slices.Max(r.Threads), new(report.Significant(stat.Median(ratios))), len(of)
}

func drawMasks(s *Sink, all []MaskRow) error {
	if s.Plot == nil {
		return nil
	}
	times := figure.Panel{X: "polling mask", Y: "half a round trip", Times: true}
	first, slowest := figure.Curve{Name: "first thread"}, figure.Curve{Name: "slowest thread"}
	for _, r := range all[:len(masks)] {
		times.Places = append(times.Places, number(r.Mask))
		first.Y, slowest.Y = append(first.Y, r.First), append(slowest.Y, r.Slowest)
	}
	times.Curves = []figure.Curve{first, slowest}
	return figure.Curves(s.Plot, s.Title("polling mask"), times)
}

// handlerTrips is one round: the samples of each thread.
func handlerTrips(ctx context.Context, p *duo.Pair, mask uint64, private, iters int) ([][]float64, error) {
	o := duo.Order{Kind: kindHandlers, Iters: iters, Size: 8, Count: int(maskOf(mask)), Domains: private}
	if mask == 0 {
		o.Count = defaultMask
	}
	return onPair(ctx, p, duo.Setup{Driver: p.Network()}, o, func(w *duo.World) (of [][]float64, err error) {
		m, err := am.Open(w.Session, am.Config{Mask: am.EachPoll})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		var ds []*am.Domain
		for k := range handlerThreads {
			d, err := m.Domain(am.DomainConfig{Number: 1 + k})
			if err != nil {
				return nil, err
			}
			ds = append(ds, d)
		}
		for k, d := range ds { // a thread each, one after the other: they share a core
			var samples []float64
			join := w.Spawn(0, fmt.Sprint("requester ", k), func() { samples, err = trips(ctx, d, 1+k, iters) })
			if err := errors.Join(join(), err); err != nil {
				return nil, err
			}
			of = append(of, samples)
		}
		var r am.Reply
		if err = ds[0].RequestTo(&r, 1, 1, endID, nil, nil); err == nil {
			_, _, err = r.WaitContext(ctx)
		}
		return of, err
	})
}

// trips are half the round trips of a thread to a domain of the other process.
func trips(ctx context.Context, d *am.Domain, to, iters int) ([]float64, error) {
	var r am.Reply
	var samples []float64
	body, ns, end := make([]byte, 8), nsPerCycle(), asm.Cycles()+asm.ToCycles(int64(longest))
	for i := range warmup(iters) + iters {
		body[0] = byte(i)
		before := asm.Cycles()
		if err := d.RequestTo(&r, 1, to, echoID, nil, body); err != nil {
			return nil, err
		}
		_, got, err := r.WaitContext(ctx)
		after := asm.Cycles()
		if err == nil && (len(got) != len(body) || got[0] != byte(i)) {
			err = fmt.Errorf("answer %d is damaged", i)
		}
		if err != nil {
			return nil, err
		}
		if i >= warmup(iters) {
			samples = append(samples, float64(after-before)*ns/2)
		}
		if after > end && len(samples) >= min(leastSamples, iters) {
			break
		}
	}
	return samples, nil
}

// handlersOther is rank 1's part.
func handlersOther(w *duo.World, o *duo.Order) error {
	mask := uint64(o.Count)
	switch o.Count {
	case 0:
		mask = am.EachPoll
	case defaultMask:
		mask = 0
	}
	m, err := am.Open(w.Session, am.Config{Mask: mask})
	if err != nil {
		return err
	}
	ended := false
	err = errors.Join(m.Handle(echoID, func(t *am.Token, _ []uint64, body []byte) { _ = t.Reply(nil, body) }),
		m.Handle(endID, func(t *am.Token, _ []uint64, _ []byte) { ended = true; _ = t.Reply(nil, nil) }))
	if err != nil {
		return err
	}
	if o.Domains == privateHandlers {
		err := threads(w, handlerThreads, "owner", func(k int) error {
			d, err := m.Domain(am.DomainConfig{Number: 1 + k, Access: nmad.Private})
			for err == nil && !ended {
				d.Poll()
				marcel.Yield()
			}
			return err
		})
		return errors.Join(err, m.Close())
	}
	var first *am.Domain
	for k := range handlerThreads {
		d, err := m.Domain(am.DomainConfig{Number: 1 + k})
		if err != nil {
			return errors.Join(err, m.Close())
		}
		if k == 0 {
			first = d
		}
	}
	for !ended {
		first.Poll()
	}
	return m.Close()
}

func runGetMask(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		if p.Far != "" {
			return allSkipped(s, "gets", "the memory is reached by loads, and the ranks are "+p.Far)
		}
		var variants []Variant
		for _, x := range getSizes {
			base, iters := len(variants)+len(masks), max(o.Iters/x.share, 10) // with the last mask
			add := func(variant string, value *float64, polls bool, mask uint64) {
				variants = append(variants, Variant{Name: "get, " + size.Format(x.size), Variant: variant, Base: base, Parameter: "mask", Value: value, Where: placeOf(p) + "; no engine polls",
					Measure: func() ([]float64, error) { return getPolling(ctx, p, x.size, iters, polls, mask) }})
			}
			add("no poll", nil, false, 511)
			for _, mask := range masks {
				value := maskOf(mask)
				add("a poll after each", &value, true, mask)
			}
			add("a poll after each, the default", nil, true, 0)
		}
		all, err := measure(ctx, o, s, variants, "gets take no polls here: the thread polls its own domain of active messages once after each, and 3 others, all idle, as the mask says (0: each time)",
			"samples are of 10 gets")
		if err != nil || s.Plot == nil {
			return err
		}
		var panels []figure.Panel
		n := len(all) / len(getSizes)
		for i, x := range getSizes {
			panels = append(panels, curvesOf(all[i*n:(i+1)*n], "polling mask; "+size.Format(x.size), "a get and a poll"))
		}
		return figure.Curves(s.Plot, s.Title("polling mask"), panels...)
	})
}

// getPolling gets from rank 1, and polls after each.
func getPolling(ctx context.Context, p *duo.Pair, size, iters int, polls bool, mask uint64) ([]float64, error) {
	o := duo.Order{Kind: kindGets, Iters: iters, Size: size}
	return onPair(ctx, p, duo.Setup{Driver: "shm"}, o, func(w *duo.World) (samples []float64, err error) {
		world, err := rma.Open(w.Session)
		if err != nil {
			return nil, err
		}
		seg, err := world.Alloc(getOffset + mostGets*max(size, getOffset))
		if err != nil {
			return nil, err
		}
		if err := meet(w, world, seg); err != nil {
			return nil, err
		}
		m, err := am.Open(w.Session, am.Config{Mask: mask})
		if err != nil {
			return nil, err
		}
		var own *am.Domain
		for k := range handlerThreads {
			if own, err = m.Domain(am.DomainConfig{Number: 100 + k}); err != nil {
				return nil, err
			}
		}
		d, err := world.Domain(rma.DomainConfig{Access: nmad.Private})
		if err != nil {
			return nil, err
		}
		const batch = 10
		buf, at, ns := make([]byte, size), seg.At(w.Gate.Rank(), getOffset), nsPerCycle()
		for i := range warmup(iters) + iters/batch {
			before := asm.Cycles()
			for range batch {
				if err := d.Get(buf, at); err != nil {
					return nil, err
				}
				if polls {
					own.Poll()
				}
			}
			if i >= warmup(iters) {
				samples = append(samples, float64(asm.Cycles()-before)*ns/batch)
			}
		}
		return samples, errors.Join(m.Close(), world.Close())
	})
}
