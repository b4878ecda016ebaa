package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/cmd/demo/internal/veth"
)

// The experiments on overlap differ in what they vary. 1 is perfect, as TD09 has it; D15 prints the inverse.
var (
	overlapShort = Experiment{
		Name:  "E5",
		Lasts: 80 * time.Second, Title: "overlap T_comp/T_total of 32 KiB and 1 MiB, computation at the sender, the receiver, both",
		Paper: "TD09 fig. 5-7", Published: "overlaps in all cases; the MPI libraries at the sender only",
		Iters: 30, Rounds: 5, Linked: true, Network: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runOverlap(ctx, o, s, []int{32 << 10, 1 << 20}, []int{1000, 5000}, senderOnly, receiverOnly, bothSides)
		},
	}
	overlapBoth = Experiment{
		Name:  "E18",
		Lasts: 36 * time.Second, Title: "overlap T_comp/T_total of 4 MiB against the computation, which is on both sides",
		Paper: "D15 fig. 7", Published: "perfect from T_comp = T_comm on; the MPI libraries never",
		Iters: 10, Rounds: 5, Linked: true, Network: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runOverlap(ctx, o, s, []int{4 << 20}, []int{1000, 5000}, bothSides)
		},
	}
	overlapOne = Experiment{
		Name:  "E19",
		Lasts: 46 * time.Second, Title: "overlap T_comp/T_total of 4 MiB, computation at the sender, or the receiver, only",
		Paper: "D15 fig. 8", Published: "perfect on either side; the MPI libraries at the sender only",
		Iters: 10, Rounds: 5, Linked: true, Network: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runOverlap(ctx, o, s, []int{4 << 20}, []int{1000, 5000}, senderOnly, receiverOnly)
		},
	}
)

// factors are T_comp/T_comm, T_comm being what the message takes when no thread computes.
var factors = lengths{of: []float64{0.25, 0.5, 1, 1.5, 2}}

// OverlapRow is one length of computation beside a message.
type OverlapRow struct {
	Name    string   `json:"name"`    // the network, the message size, the side that computes
	Variant string   `json:"variant"` // whose messages
	Size    int      `json:"size"`    // bytes
	Side    string   `json:"side"`    // that computes
	Factor  float64  `json:"factor"`  // computation / message alone
	Alone   float64  `json:"t_comm_ns"`
	Compute float64  `json:"t_comp_ns"` // where nothing else uses the CPU
	Total   float64  `json:"t_total_ns"`
	Q1      float64  `json:"q1_overlap"`
	Overlap float64  `json:"overlap"` // Compute / Total, median over the rounds
	Q3      float64  `json:"q3_overlap"`
	Ceiling *float64 `json:"ceiling"` // what the CPU time of the messages leaves of it, on the core that computes; null: not known
	Ratio   *float64 `json:"ratio"`   // ours / this peer's, in the same rounds
	Better  string   `json:"better"`
	ProbeNS *float64 `json:"probe_ns"`
	Rounds  int      `json:"rounds"`
	Samples int      `json:"samples"`
	Where   string   `json:"where"`
}

// Head implements report.Row.
func (OverlapRow) Head() string {
	return "# Overlap: T_comp/T_total, medians over the rounds; 1 is perfect, higher is better. T_comm: the message alone.\n" +
		"# Ceiling: T_comp/(T_comp + the CPU time of the messages on the core that computes). Ours/peer: overlaps of the same rounds.\n" +
		fmt.Sprintf("# %-44s %-14s %7s %10s %10s %10s %8s %16s %8s %10s %8s  %s", "Network, size, computing side", "Messages of", "Factor",
			"T_comm", "T_comp", "T_total", "Overlap", "[quartiles]", "Ceiling", "Ours/peer", "Probe ns", "Conditions")
}

// Line implements report.Row.
func (r OverlapRow) Line() string {
	return fmt.Sprintf("  %-44s %-14s %7g %10s %10s %10s %8.3f %16s %8s %10s %8s  %s", r.Name, r.Variant, r.Factor,
		report.Duration(r.Alone), report.Duration(r.Compute), report.Duration(r.Total), r.Overlap,
		fmt.Sprintf("[%.3f, %.3f]", r.Q1, r.Q3), perhaps(r.Ceiling, 3), perhaps(r.Ratio, 2), perhaps(r.ProbeNS, 1), r.Where)
}

// contest is ours, or a peer's, series of points on one network.
type contest struct {
	name, variant, where string
	size, mbps           int
	who                  sides
	long                 lengths
	ours                 int // index of the contest that it is compared with; itself: it is that
	measure              func() ([]point, error)
}

// runOverlap measures all sizes and sides over a link between two hosts, at several rates in Mbit/s.
func runOverlap(ctx context.Context, o Options, s *Sink, sizes, rates []int, who ...sides) error {
	return overLink(ctx, o, s, rates, []setting{openMPITCP}, func(x *overlapLab) error {
		contests := x.contests(ctx, sizes, rates, factors, who...)
		all, err := compete(ctx, o, s, contests)
		if err != nil || s.Plot == nil {
			return err
		}
		return drawOverlap(s, contests, all)
	}, totalOfMessage)
}

// totalOfMessage is what the total time of a message is.
const totalOfMessage = "T_total: from the start of the send to the word that all has been received"

// overLink is onLink for experiments with computations. Where there is no network namespace for a link, it skips what f
// would measure at these rates.
func overLink(ctx context.Context, o Options, s *Sink, rates []int, beside []setting, f func(x *overlapLab) error, remarks ...string) error {
	if err := s.Begin(append(remarks, "a computation is a number of steps, so it takes longer where something else uses its core")...); err != nil {
		return err
	}
	if !veth.Inside() {
		for _, mbps := range rates {
			s.Skip(network(mbps), veth.Missing().Error())
		}
		if s.Plot != nil {
			return errors.New("no figure was drawn: every row was skipped")
		}
		return nil
	}
	return onLink(ctx, o, s, beside, f)
}

// onLink makes a link between two hosts, with a rank of ours on either, and those of the peers beside it ready that are
// here, for f.
func onLink(ctx context.Context, o Options, s *Sink, beside []setting, f func(x *overlapLab) error) (err error) {
	p, err := peersFor(ctx, o, s, beside...)
	if err != nil {
		return err
	}
	defer p.remove()
	link, err := veth.New()
	if err != nil {
		return err
	}
	defer link.Close()
	pair, err := duo.StartOn(ctx, duo.Net{Addrs: veth.Addrs, Enter: link.Enter()}, o.CPUs, s.Warn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pair.Close()) }()
	pair.Driver = cmp.Or(o.Driver, "tcp")
	usable, err := p.available(ctx, s, places(pair), beside...)
	if err != nil {
		return err
	}
	return f(&overlapLab{pair: pair, link: link, peers: p, beside: usable, iters: o.Iters, cpus: places(pair)})
}

// network is what a link is called.
func network(mbps int) string { return fmt.Sprintf("tcp, %g Gbit/s", float64(mbps)/1000) }

// overlapLab is what these experiments are made with.
type overlapLab struct {
	pair   *duo.Pair
	link   *veth.Link
	peers  *peers    // nil: none
	beside []setting // of the peers, those that are here
	iters  int
	cpus   string
}

// contests are ours, and beside each the peer's if it is here.
func (ol *overlapLab) contests(ctx context.Context, sizes, rates []int, long lengths, who ...sides) (all []contest) {
	for _, mbps := range rates {
		for _, bytes := range sizes {
			for _, w := range who {
				c := contest{
					name: fmt.Sprintf("%s, %s, %s", network(mbps), size.Format(bytes), w.name), variant: "ours",
					where: placeOf(ol.pair) + ", each on a host; over " + ol.pair.Driver + "; engine with hooks", size: bytes, mbps: mbps, who: w, long: long, ours: len(all),
				}
				c.measure = func() ([]point, error) {
					if err := ol.link.Shape(mbps); err != nil {
						return nil, err
					}
					return overlapRound(ctx, ol.pair, bytes, ol.iters, w, long)
				}
				all = append(all, c)
				if len(ol.beside) == 0 {
					continue
				}
				c.variant, c.where = openMPITCP.title, placeOf(ol.pair)+", each on a host"
				c.measure = func() ([]point, error) {
					if err := ol.link.Shape(mbps); err != nil {
						return nil, err
					}
					return ol.peerRound(ctx, bytes, w, long)
				}
				all = append(all, c)
			}
		}
	}
	return all
}

// peerRound is a round of the peer.
func (ol *overlapLab) peerRound(ctx context.Context, size int, who sides, long lengths) ([]point, error) {
	args := append([]string{who.name, "-s", strconv.Itoa(size), "-i", strconv.Itoa(ol.iters), "-c", ol.cpus}, long.args()...)
	lines, err := ol.peers.job(ctx, openMPITCP, ol.link, "overlap_mpi", args...)
	if err != nil {
		return nil, err
	}
	return pointsOf(lines, len(long.of))
}

// pointsOf is what a peer has printed: the message alone, computation, totals.
func pointsOf(lines [][]float64, want int) (points []point, err error) {
	for _, line := range lines {
		if len(line) < 3 || !(line[0] > 0) {
			return nil, fmt.Errorf("a peer printed %v where times belong", line)
		}
		points = append(points, point{alone: line[0], compute: line[1], total: line[2:]})
	}
	if len(points) != want {
		return nil, fmt.Errorf("a peer printed %d lines, want %d", len(points), want)
	}
	return points, nil
}

// overlapRound is a round of ours.
func overlapRound(ctx context.Context, p *duo.Pair, size, iters int, who sides, long lengths) ([]point, error) {
	c := duo.Setup{Driver: p.Network(), Hooked: true}
	return onPair(ctx, p, c, duo.Order{Kind: kindOverlap, Size: size}, func(w *duo.World) ([]point, error) {
		return overlapPoints(w, size, iters, who, long)
	})
}

// compete measures the contests in turn and writes their rows.
func compete(ctx context.Context, o Options, s *Sink, contests []contest) ([]OverlapRow, error) {
	var all []OverlapRow
	err := contend(ctx, o, s, contests, func(c *contest, k int, rounds, ours [][]point, compared bool, probe *float64) report.Row {
		r := c.row(k, rounds, ours, compared)
		r.ProbeNS = probe
		all = append(all, r)
		return r
	})
	return all, err
}

// contend measures the contests in turn and writes the row of each length of computation.
func contend(ctx context.Context, o Options, s *Sink, contests []contest,
	row func(c *contest, k int, rounds, ours [][]point, compared bool, probe *float64) report.Row) error {
	entrants := make([]entrant[[]point], len(contests))
	for i, c := range contests {
		entrants[i] = entrant[[]point]{c.name + ": " + c.variant, c.measure}
	}
	of, probe, err := takeTurns(ctx, o, s, entrants)
	if err != nil {
		return err
	}
	for i := range contests {
		c := &contests[i]
		for k := range c.long.of {
			if err := s.Row(row(c, k, of[i], of[c.ours], c.ours != i, probe)); err != nil {
				return err
			}
		}
	}
	return nil
}

// row summarizes the rounds of a contest at one factor; ours are those of the one it is compared
// with.
func (ct *contest) row(k int, rounds, ours [][]point, compared bool) OverlapRow {
	var alone, compute, total, overlap, ceiling, ratio []float64
	for i := range rounds {
		p := &rounds[i][k]
		t := stat.Median(p.total)
		alone, compute, total = append(alone, p.alone), append(compute, p.compute), append(total, t)
		overlap = append(overlap, p.compute/t)
		if compared {
			q := &ours[i][k]
			ratio = append(ratio, q.compute/stat.Median(q.total)/(p.compute/t))
		}
		if most := p.busiest(ct.who); most > 0 {
			ceiling = append(ceiling, min(p.compute/most, 1))
		}
	}
	r := OverlapRow{
		Name: ct.name, Variant: ct.variant, Size: ct.size, Side: ct.who.name, Factor: ct.long.of[k], Better: "higher", Where: ct.where,
		Alone: report.Round(stat.Median(alone)), Compute: report.Round(stat.Median(compute)), Total: report.Round(stat.Median(total)),
		Q1: report.Significant(stat.Quantile(overlap, 0.25)), Overlap: report.Significant(stat.Median(overlap)), Q3: report.Significant(stat.Quantile(overlap, 0.75)),
		Rounds: len(rounds), Samples: len(rounds[0][k].total),
	}
	if len(ceiling) > 0 {
		r.Ceiling = new(report.Significant(stat.Median(ceiling)))
	}
	if compared {
		r.Ratio = new(report.Significant(stat.Median(ratio)))
	}
	return r
}

// busiest is the CPU time of the rank that computes, or of the one of two that used more.
func (p *point) busiest(who sides) float64 {
	most := 0.0
	if who.sender {
		most = p.cpu[0]
	}
	if who.receiver {
		most = max(most, p.cpu[1])
	}
	return most
}

// drawOverlap draws a panel for each network and size.
func drawOverlap(s *Sink, contests []contest, all []OverlapRow) error {
	var panels []figure.Panel
	var places []string
	for _, f := range factors.of {
		places = append(places, strconv.FormatFloat(f, 'g', -1, 64))
	}
	ideal := figure.Curve{Name: "perfect", Dashed: true}
	for _, f := range factors.of {
		ideal.Y = append(ideal.Y, min(f, 1))
	}
	last := ""
	for i, c := range contests {
		network := strings.TrimSuffix(c.name, ", "+c.who.name)
		if network != last {
			last = network
			panels = append(panels, figure.Panel{X: "T_comp / T_comm; " + network, Y: "overlap: T_comp / T_total", Places: places, Zero: true})
		}
		g := &panels[len(panels)-1]
		k := figure.Curve{Name: c.variant + ", " + c.who.name}
		for _, r := range all[i*len(factors.of) : (i+1)*len(factors.of)] {
			k.Add(r.Overlap, r.Q1, r.Q3)
		}
		g.Curves = append(g.Curves, k)
	}
	if len(panels) == 0 {
		return errors.New("no figure was drawn: every row was skipped")
	}
	for i := range panels {
		panels[i].Curves = append(panels[i].Curves, ideal)
	}
	return figure.Curves(s.Plot, s.Title("overlap"), panels...)
}
