package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// CrowdRow is one number of threads beside, or in, a ping-pong. Times are nanoseconds.
type CrowdRow struct {
	Name      string   `json:"name"`    // what is measured
	Variant   string   `json:"variant"` // whose messages
	Threads   int      `json:"threads"`
	Best      float64  `json:"best_ns"`
	Q1        float64  `json:"q1_ns"`
	Median    float64  `json:"median_ns"`
	Q3        float64  `json:"q3_ns"`
	P99       float64  `json:"p99_ns"`
	Max       float64  `json:"max_ns"`                // the longest of all rounds
	Paced     float64  `json:"paced_ns"`              // the time of a round, by the messages of one player and by two: what a message takes if all advance alike
	Growth    *float64 `json:"growth"`                // of what is compared, to the fewest threads of this variant
	Slope     *float64 `json:"slope_ns"`              // of what is compared, per thread more, over all of this variant; null: not asked for
	Slopes    *float64 `json:"slope_ratio,omitempty"` // ours / this peer's slope
	Ratio     *float64 `json:"ratio"`                 // of what is compared: our first variant's / this one's with as many threads, in the same rounds
	Better    string   `json:"better"`                // which way the ratio is better
	Rate      *float64 `json:"rate_per_ms"`           // messages of all players in a millisecond, both ways; null: one plays
	PerPacket *float64 `json:"per_packet"`            // messages in a packet, of those that did not travel alone; null: not counted
	Together  *float64 `json:"aggregated"`            // share of all messages that shared a packet; null: not counted
	ProbeNS   *float64 `json:"probe_ns"`
	Rounds    int      `json:"rounds"`
	Samples   int      `json:"samples"` // of all rounds
	Where     string   `json:"where"`
}

// Head implements report.Row.
func (CrowdRow) Head() string {
	return "# Medians over the rounds. Paced: elapsed time by the messages of one player, one way. Growth: to this variant's fewest threads.\n" +
		"# Ours/peer: of the same rounds, lower is better; in brackets that of the slopes.\n" +
		fmt.Sprintf("# %-50s %7s %10s %10s %24s %10s %10s %10s %9s %7s %18s %10s %10s %8s  %s", "Variant", "Threads", "Best", "Median", "[quartiles]",
			"P99", "Max", "Paced", "Rate/ms", "Growth", "Slope", "Aggregated", "Ours/peer", "Probe ns", "Conditions")
}

// Line implements report.Row.
func (r CrowdRow) Line() string {
	slope := "-"
	if r.Slope != nil {
		slope = report.Duration(*r.Slope)
	}
	if r.Slopes != nil {
		slope += " (" + ratioText(r.Slopes) + ")"
	}
	together := "-"
	if r.Together != nil {
		together = strconv.FormatFloat(100**r.Together, 'f', 0, 64) + " % x" + strconv.FormatFloat(*r.PerPacket, 'f', 1, 64)
	}
	return fmt.Sprintf("  %-50s %7d %10s %10s %24s %10s %10s %10s %9s %7s %18s %10s %10s %8s  %s", r.Name+": "+r.Variant, r.Threads,
		report.Duration(r.Best), report.Duration(r.Median), "["+report.Duration(r.Q1)+", "+report.Duration(r.Q3)+"]",
		report.Duration(r.P99), report.Duration(r.Max), report.Duration(r.Paced), perhaps(r.Rate, 0), perhaps(r.Growth, 2), slope, together, ratioText(r.Ratio), perhaps(r.ProbeNS, 1), r.Where)
}

// ratioText keeps three digits of what may be very small.
func ratioText(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'g', 3, 64)
}

// A crowd is an experiment with a growing number of threads.
type crowd struct {
	name, mode string // mode: of threads_mpi
	size       int    // of the messages, in bytes
	share      int    // iterations are Options.Iters divided by this; 0: all of them
	threads    []int
	peers      []setting
	players    bool // each thread plays; else one does, and the others do something else
	anywhere   bool // the ranks may be on different hosts: it is measured over the fastest network between them
	paced      bool // it is the paced times that are compared and drawn, and have a slope; else the medians
	toFirst    bool // our first variant is compared with all others; else with the peers alone
	ours       []crowdVariant
	remarks    []string
	axis       string
}

// crowdVariant is one way in which we do it.
type crowdVariant struct {
	name    string
	setup   duo.Setup
	measure func(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (crowdSample, error)
}

// crowdSample is one round of one number of threads.
type crowdSample struct {
	ns                   []float64
	elapsed              float64 // ns, of all
	players              int     // threads that shared the messages
	aggregates, together float64 // packets with several messages, messages in them
	messages             float64 // all of them; 0: not counted
}

// paced is what a message would take, one way, if all players advanced alike. Some threads that
// spin get all of theirs done while they have the core, and the others wait: then no message looks slow.
func (cp *crowdSample) paced() float64 {
	if cp.players == 1 {
		return stat.Summarize(slices.Clone(cp.ns)).Average
	}
	return cp.elapsed / float64(len(cp.ns)) * float64(cp.players) / 2
}

// hopeless is how long a message takes, one way, beyond which an entrant, ours or a peer, is not measured with more
// threads.
const hopeless = 50 * time.Millisecond

// crowdRound is one round: by number of threads. What is missing was hopeless.
type crowdRound map[int]crowdSample

// iters are the iterations of one number of threads in one round.
func (cr *crowd) iters(o Options) int { return max(o.Iters/max(cr.share, 1), 1) }

// run measures the crowd, prints its rows and draws them.
func (cr *crowd) run(ctx context.Context, o Options, s *Sink) error {
	return runCrowds(ctx, o, s, "", cr)
}

// runCrowds measures one crowd after the other, such as one for each size, prints them and draws them under one title.
// An empty title stands for the name of the first crowd. The remarks and peers of all are those of the first.
func runCrowds(ctx context.Context, o Options, s *Sink, title string, all ...*crowd) error {
	first := all[0]
	if err := s.Begin(append([]string{"half a round trip; ours and the peers in turn, a core per process"}, first.remarks...)...); err != nil {
		return err
	}
	p, err := peersFor(ctx, o, s, first.peers...)
	if err != nil {
		return err
	}
	defer p.remove()
	return between(ctx, o, s, func(pair *duo.Pair) error {
		var usable []setting
		if p != nil && pair.Far != "" {
			for _, x := range first.peers {
				s.Skip(x.title, "the ranks of this job are "+pair.Far+", those of the peers would be on one host")
			}
		} else if usable, err = p.available(ctx, s, places(pair), first.peers...); err != nil {
			return err
		}
		var panels []figure.Panel
		for i, c := range all {
			if c.anywhere {
				c.name += ", " + pair.Network()
			}
			c.peers = usable
			part := *s
			part.Step = func(done, of int) { s.Step(i*of+done, len(all)*of) }
			names, rows, err := c.measure(ctx, o, &part, pair, p)
			if err != nil {
				return err
			}
			some := c.panels(names, rows)
			if len(all) > 1 {
				some = some[:1]
			}
			panels = append(panels, some...)
		}
		if s.Plot == nil {
			return nil
		}
		return figure.Curves(s.Plot, s.Title(cmp.Or(title, first.name)), panels...)
	})
}

// places are the CPUs of the two processes, for a command line.
func places(pair *duo.Pair) string { return fmt.Sprintf("%d,%d", pair.CPUs[0], pair.CPUs[1]) }

// measure measures the crowd and prints its rows.
func (cr *crowd) measure(ctx context.Context, o Options, s *Sink, pair *duo.Pair, p *peers) (names []string, all []CrowdRow, err error) {
	entrants, names := cr.entrants(ctx, o, s, pair, p)
	of, probeNS, err := takeTurns(ctx, o, s, entrants)
	if err != nil {
		return nil, nil, err
	}
	for i := range entrants {
		peer := i >= len(cr.ours)
		for _, r := range cr.rows(names[i], of[i], of[0], peer || cr.toFirst && i > 0) {
			if peer && r.Slope != nil && all[0].Slope != nil {
				r.Slopes = new(report.Significant(*all[0].Slope / *r.Slope))
			}
			r.ProbeNS, r.Where = probeNS, placeOf(pair)
			all = append(all, r)
			if err := s.Row(r); err != nil {
				return nil, nil, err
			}
		}
	}
	return names, all, nil
}

// entrants are ours, then the peers.
func (cr *crowd) entrants(ctx context.Context, o Options, s *Sink, pair *duo.Pair, p *peers) (all []entrant[crowdRound], names []string) {
	for _, v := range cr.ours {
		names = append(names, v.name)
		all = append(all, entrant[crowdRound]{v.name, func() (crowdRound, error) {
			of := crowdRound{}
			for _, n := range cr.threads {
				if err := ctx.Err(); err != nil {
					return nil, context.Cause(ctx)
				}
				sample, err := v.measure(ctx, pair, v.setup, cr.size, n, cr.iters(o))
				if err != nil {
					return nil, err
				}
				if of[n] = sample; cr.mode != "load" && sample.paced() > float64(hopeless) {
					break
				}
			}
			return of, nil
		}})
	}
	for _, x := range cr.peers {
		names = append(names, x.title)
		all = append(all, cr.peer(ctx, o, s, p, x, places(pair)))
	}
	return all, names
}

// peer is one of them as an entrant. One whose threads stand in each other's way for so long that a job does not end in
// time is left out from then on.
func (cr *crowd) peer(ctx context.Context, o Options, s *Sink, p *peers, x setting, cpus string) entrant[crowdRound] {
	var counts []string
	for _, n := range cr.threads {
		counts = append(counts, strconv.Itoa(n))
	}
	slow := false // once
	return entrant[crowdRound]{x.title, func() (crowdRound, error) {
		if slow {
			return nil, nil
		}
		lines, err := p.job(ctx, x, nil, "threads_mpi", cr.mode, "-n", strings.Join(counts, ","), "-s", strconv.Itoa(cr.size),
			"-i", strconv.Itoa(cr.iters(o)), "-t", fmt.Sprint(longest.Seconds()), "-l", strconv.FormatInt(hopeless.Milliseconds(), 10),
			"-b", strconv.FormatInt(settleLoad.Milliseconds(), 10), "-c", cpus)
		if errors.Is(err, errSlow) {
			slow = true
			s.Skip(x.title, err.Error()+": it is not measured again")
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return cr.peerRound(lines)
	}}
}

// peerRound is what a peer has printed: a number of threads, the time of all, and times in each line.
func (cr *crowd) peerRound(lines [][]float64) (crowdRound, error) {
	of := crowdRound{}
	for _, line := range lines {
		if len(line) < 3 {
			return nil, fmt.Errorf("it printed %v where a number of threads, the time of all, and times belong", line)
		}
		players := 1
		if cr.players {
			players = int(line[0])
		}
		of[int(line[0])] = crowdSample{ns: line[2:], elapsed: line[1], players: players}
	}
	return of, nil
}

// rows summarizes the rounds of one entrant, which may be compared with ours.
func (cr *crowd) rows(name string, rounds, ours []crowdRound, comparedToOurs bool) (all []CrowdRow) {
	for _, n := range cr.threads {
		var best, medians, paced, p99, most, ratios []float64
		var sum crowdSample
		count := 0
		for i, r := range rounds {
			x, there := r[n]
			if !there || len(x.ns) == 0 {
				continue
			}
			t := stat.Summarize(slices.Clone(x.ns))
			best, medians, p99, most = append(best, t.Best), append(medians, t.Median), append(p99, t.P99), append(most, slices.Max(x.ns))
			paced = append(paced, x.paced())
			count += t.Count
			sum.aggregates, sum.together, sum.messages = sum.aggregates+x.aggregates, sum.together+x.together, sum.messages+x.messages
			if base, there := ours[i][n]; comparedToOurs && there {
				if cr.paced {
					ratios = append(ratios, base.paced()/x.paced())
				} else {
					ratios = append(ratios, stat.Median(base.ns)/t.Median)
				}
			}
		}
		if len(medians) == 0 {
			continue
		}
		r := CrowdRow{
			Name: cr.name, Variant: name, Threads: n, Better: "lower", Rounds: len(medians), Samples: count,
			Best: report.Round(slices.Min(best)), Q1: report.Round(stat.Quantile(medians, 0.25)), Median: report.Round(stat.Median(medians)),
			Q3: report.Round(stat.Quantile(medians, 0.75)), P99: report.Round(stat.Median(p99)), Max: report.Round(slices.Max(most)), Paced: report.Round(stat.Median(paced)),
		}
		if cr.players {
			r.Rate = new(report.Significant(1e6 * float64(n) / r.Paced))
		}
		if len(all) > 0 {
			r.Growth = new(report.Significant(cr.compared(&r) / cr.compared(&all[0])))
		}
		if len(ratios) > 0 {
			r.Ratio = new(report.Significant(stat.Median(ratios)))
		}
		if sum.messages > 0 {
			share, each := report.Significant(sum.together/sum.messages), 0.0
			if sum.aggregates > 0 {
				each = report.Significant(sum.together / sum.aggregates)
			}
			r.Together, r.PerPacket = &share, &each
		}
		all = append(all, r)
	}
	if cr.paced && len(all) > 1 {
		k := report.Significant(slope(all))
		for i := range all {
			all[i].Slope = &k
		}
	}
	return all
}

// compared is the figure that this experiment compares.
func (cr *crowd) compared(r *CrowdRow) float64 {
	if cr.paced {
		return r.Paced
	}
	return r.Median
}

// slope is by how much the paced time grows per thread: the line with the least squares of the relative
// errors, since times range over decades and the few large ones would decide alone.
func slope(rows []CrowdRow) float64 {
	var w, wx, wy, wxx, wxy float64
	for _, r := range rows {
		x, y := float64(r.Threads), r.Paced
		k := 1 / (y * y)
		w, wx, wy, wxx, wxy = w+k, wx+k*x, wy+k*y, wxx+k*x*x, wxy+k*x*y
	}
	return (w*wxy - wx*wy) / (w*wxx - wx*wx)
}

// panels are what is compared on the left, the longest on the right.
func (cr *crowd) panels(names []string, all []CrowdRow) []figure.Panel {
	var places []string
	for _, n := range cr.threads {
		places = append(places, strconv.Itoa(n))
	}
	medians := figure.Panel{X: cr.axis, Y: "one-way latency, median and quartiles of the rounds", Places: places, Times: true}
	if cr.paced {
		medians.Y = "one-way latency if all advance alike"
	}
	longest := figure.Panel{X: cr.axis, Y: "one-way latency, the longest", Places: places, Times: true}
	for _, name := range names {
		k, m := figure.Curve{Name: name}, figure.Curve{Name: name}
		for _, n := range cr.threads {
			at := slices.IndexFunc(all, func(r CrowdRow) bool { return r.Variant == name && r.Threads == n })
			r := CrowdRow{Median: math.NaN(), Paced: math.NaN(), Q1: math.NaN(), Q3: math.NaN(), Max: math.NaN()}
			if at >= 0 {
				r = all[at]
			}
			k.Y, m.Y = append(k.Y, cr.compared(&r)), append(m.Y, r.Max)
			if !cr.paced {
				k.Low, k.High = append(k.Low, r.Q1), append(k.High, r.Q3)
			}
		}
		medians.Curves, longest.Curves = append(medians.Curves, k), append(longest.Curves, m)
	}
	return []figure.Panel{medians, longest}
}
