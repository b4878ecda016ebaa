package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// overlapCollectives is how far immediate collective operations overlap with a computation that is as long.
var overlapCollectives = Experiment{
	Name:  "overlap-collectives",
	Lasts: 80 * time.Second, Title: "immediate allreduce, bcast and alltoall of 1 MiB beside a computation as long: overlap, of what the CPU time of the transfer leaves",
	Paper: "none: collective operations go on while the program computes", Published: "no figure; perfect is 1",
	Iters: 6, Rounds: 5, Linked: true, Parts: true,
	Run: runCollectives,
}

const (
	collectiveSize = 1 << 20 // bytes of an operand, of the message, of the block for each rank
	collectiveMbps = 200
	// collectiveGap is for how many ns the ranks compute before each part: the token bucket of the link is full then.
	collectiveGap = 10e6
	// longCompute times as long as the operation alone is the computation beside which its CPU time is taken: it is
	// over before that ends.
	longCompute = 1.5
	// testEvery is how many ns a peer computes between two calls of MPI_Test, where it calls it.
	testEvery = 100e3
)

// CollectiveRow is an operation beside a computation at both ranks, at the rank that overlaps less.
type CollectiveRow struct {
	Name       string   `json:"name"`    // the operation
	Variant    string   `json:"variant"` // whose, and how
	Size       int      `json:"size"`    // bytes of an operand, of the message, of the block for each rank
	Mbps       int      `json:"mbps"`
	Rank       int      `json:"rank"`      // of which the row is
	Alone      float64  `json:"t_comm_ns"` // of the operation, at the rank that is in it longer
	Compute    float64  `json:"t_comp_ns"` // measured, with nothing under way
	Total      float64  `json:"t_total_ns"`
	Wait       float64  `json:"wait_ns"` // of Total, after the computation
	CPU        float64  `json:"cpu_ns"`  // of the transfer, on the core of this rank, beside a longer computation
	Late       float64  `json:"late_ns"` // wait after that computation: not above some us, or CPU contains the polls of the wait
	Overlap    float64  `json:"overlap"` // Compute / Total
	Bound      float64  `json:"bound"`   // Compute / (Compute + CPU)
	Q1         float64  `json:"q1_efficiency"`
	Efficiency float64  `json:"efficiency"` // Overlap / Bound, median over the rounds
	Q3         float64  `json:"q3_efficiency"`
	Other      float64  `json:"other_efficiency"` // that of the other rank
	Better     string   `json:"better"`
	ProbeNS    *float64 `json:"probe_ns"`
	Rounds     int      `json:"rounds"`
	Samples    int      `json:"samples"`
	Where      string   `json:"where"`
}

// Head implements report.Row.
func (CollectiveRow) Head() string {
	return "# Medians over the rounds, at the rank that overlaps less. Overlap: T_comp/T_total. Bound: T_comp/(T_comp + CPU). Efficiency: overlap/bound, higher is better. Other: of the other rank.\n" +
		fmt.Sprintf("# %-12s %-28s %4s %10s %10s %10s %10s %10s %10s %8s %6s %10s %16s %6s %8s  %s", "Operation", "Variant", "Rank", "T_comm", "T_comp", "T_total", "Wait", "CPU", "Late",
			"Overlap", "Bound", "Efficiency", "[quartiles]", "Other", "Probe ns", "Conditions")
}

// Line implements report.Row.
func (r CollectiveRow) Line() string {
	return fmt.Sprintf("  %-12s %-28s %4d %10s %10s %10s %10s %10s %10s %8.3f %6.3f %10.3f %16s %6.3f %8s  %s", r.Name, r.Variant, r.Rank, report.Duration(r.Alone), report.Duration(r.Compute),
		report.Duration(r.Total), report.Duration(r.Wait), report.Duration(r.CPU), report.Duration(r.Late), r.Overlap, r.Bound, r.Efficiency,
		fmt.Sprintf("[%.3f, %.3f]", r.Q1, r.Q3), r.Other, perhaps(r.ProbeNS, 1), r.Where)
}

// covered is what an operation beside a computation came to at one rank: medians of a round, in ns.
type covered struct {
	alone, compute, total, wait, cpu, late float64
	samples                                int
}

// efficiency is the overlap of what the CPU time of the transfer leaves of it.
func (b *covered) efficiency() float64 { return b.overlap() / b.bound() }

func (b *covered) overlap() float64 { return b.compute / b.total }

func (b *covered) bound() float64 { return b.compute / (b.compute + b.cpu) }

// collectiveRound is a round of variants that are measured at once, at either rank.
type collectiveRound [][2]covered

// collectiveCase is an operation with variants that are measured at once.
type collectiveCase struct {
	operation string
	variants  []string
	where     string
	measure   func() (collectiveRound, error)
	slow      error // it did not come to its end once: why
}

// round measures the case, unless it has not come to its end before.
func (c *collectiveCase) round() (r collectiveRound, err error) {
	if c.slow != nil {
		return nil, nil
	}
	if r, err = c.measure(); errors.Is(err, errSlow) {
		c.slow, err = err, nil
	}
	return r, err
}

// label names the case.
func (c *collectiveCase) label() string { return c.operation + ": " + c.variants[0] }

// collectiveNames are the operations, by their names in test/peers/src/overlap_collectives_mpi.c.
var collectiveNames = []string{"allreduce", "bcast", "alltoall"}

// collectiveCallers are ours, by what the rank is.
var collectiveCallers = []struct {
	name, where string
	setup       duo.Setup
}{
	{"ours, a thread", "engine with hooks; a VP for each rank", duo.Setup{Driver: "tcp", Hooked: true}},
	{"ours, a goroutine", "engine without VPs", duo.Setup{Driver: "tcp", Hooked: true, Plain: true}},
}

func runCollectives(ctx context.Context, o Options, s *Sink) error {
	wanted, err := collectivesNamed(o.Only)
	if err != nil {
		return err
	}
	return overLink(ctx, o, s, []int{collectiveMbps}, collectivePeers, func(x *overlapLab) error {
		cases := x.collectives(ctx, wanted)
		if err := x.link.Shape(collectiveMbps); err != nil {
			return err
		}
		entrants := make([]entrant[collectiveRound], len(cases))
		for i := range cases {
			entrants[i] = entrant[collectiveRound]{cases[i].label(), cases[i].round}
		}
		of, probeNS, err := takeTurns(ctx, o, s, entrants)
		if err != nil {
			return err
		}
		var all []CollectiveRow
		for i := range cases {
			if cases[i].slow != nil {
				s.Skip(cases[i].label(), cases[i].slow.Error())
				continue
			}
			for v := range cases[i].variants {
				r := cases[i].row(v, of[i])
				r.ProbeNS = probeNS
				if err := s.Row(r); err != nil {
					return err
				}
				all = append(all, r)
			}
		}
		if s.Plot == nil {
			return nil
		}
		return drawCollectives(s, all)
	},
		"both ranks compute, on a core each, a number of steps that takes as long as the operation alone does at the rank that is in it longer",
		"T_total: from its start to the end of the wait for it. CPU: what the process uses with the operation beside a computation of "+
			strconv.FormatFloat(longCompute, 'f', -1, 64)+" T_comm, less what it uses for that computation alone",
		"the operation is over before that ends, so no polls of a wait are in it; a peer's is measured with MPI_Test every "+report.Duration(testEvery)+
			", and stands for both of its rows",
	)
}

// collectivePeers are beside ours.
var collectivePeers = []setting{openMPITCP, mpichTCP}

// collectivesNamed are the labels that have a text in them.
func collectivesNamed(text string) ([]string, error) {
	var labels []string
	for _, name := range collectiveNames {
		for _, caller := range collectiveCallers {
			labels = append(labels, name+": "+caller.name)
		}
		for _, m := range collectivePeers {
			labels = append(labels, name+": "+m.title)
		}
	}
	return labeled(labels, func(label string) string { return label }, text)
}

// collectives are ours and, if they are here, the peers', operation by operation.
func (ol *overlapLab) collectives(ctx context.Context, wanted []string) (all []collectiveCase) {
	for _, name := range collectiveNames {
		for i, caller := range collectiveCallers {
			all = append(all, collectiveCase{operation: name, variants: []string{caller.name}, where: caller.where, measure: func() (collectiveRound, error) { return ourCollective(ctx, ol.pair, i, name, ol.iters) }})
		}
		for _, m := range ol.beside {
			all = append(all, collectiveCase{operation: name, variants: []string{m.title, m.title + ", MPI_Test"}, where: "either rank polls while it waits",
				measure: func() (collectiveRound, error) { return ol.peerCollective(ctx, m, name) }})
		}
	}
	all = slices.DeleteFunc(all, func(c collectiveCase) bool { return !slices.Contains(wanted, c.label()) })
	for i := range all {
		all[i].where = placeOf(ol.pair) + ", each on a host; " + all[i].where
	}
	return all
}

// peerCollective is a round of a peer.
func (ol *overlapLab) peerCollective(ctx context.Context, m setting, operation string) (collectiveRound, error) {
	whole := func(ns float64) string { return strconv.FormatFloat(ns, 'f', -1, 64) }
	lines, err := ol.peers.job(ctx, m, ol.link, "overlap_collectives_mpi", operation, "-s", strconv.Itoa(collectiveSize), "-i", strconv.Itoa(ol.iters),
		"-g", whole(collectiveGap), "-e", whole(testEvery), "-l", whole(longCompute), "-c", ol.cpus)
	if err != nil {
		return nil, err
	}
	return roundOf(lines, ol.iters)
}

// roundOf is what a peer has printed: iteration by iteration a line of each rank, with the figures that
// src/overlap_collectives_mpi.c names.
func roundOf(lines [][]float64, iters int) (collectiveRound, error) {
	if len(lines) != 2*iters {
		return nil, fmt.Errorf("a peer printed %d lines, want %d", len(lines), 2*iters)
	}
	const figures = 9
	plain, tested := [2]covered{}, [2]covered{}
	for rank := range plain {
		var of [figures + 1][]float64
		for i := rank; i < len(lines); i += 2 {
			line := lines[i]
			if len(line) != figures || !(line[0] > 0) {
				return nil, fmt.Errorf("a peer printed %v where %d times belong", line, figures)
			}
			for k, x := range append(line, line[7]-line[6]) {
				of[k] = append(of[k], x)
			}
		}
		m := func(figure int) float64 { return stat.Median(of[figure]) }
		plain[rank] = covered{m(0), m(1), m(2), m(3), m(figures), m(8), iters}
		tested[rank] = covered{m(0), m(1), m(4), m(5), m(figures), m(8), iters}
	}
	return collectiveRound{plain, tested}, nil
}

// row summarizes the rounds of a variant.
func (c *collectiveCase) row(variant int, rounds []collectiveRound) CollectiveRow {
	at := func(rank int, f func(b *covered) float64) (values []float64) {
		for i := range rounds {
			values = append(values, f(&rounds[i][variant][rank]))
		}
		return values
	}
	rank, other := 0, 1
	if stat.Median(at(1, (*covered).efficiency)) < stat.Median(at(0, (*covered).efficiency)) {
		rank, other = 1, 0
	}
	ns := func(f func(b *covered) float64) float64 { return report.Round(stat.Median(at(rank, f))) }
	efficiency := at(rank, (*covered).efficiency)
	return CollectiveRow{
		Name: c.operation, Variant: c.variants[variant], Size: collectiveSize, Mbps: collectiveMbps, Rank: rank, Better: "higher", Where: c.where,
		Alone: ns(func(b *covered) float64 { return b.alone }), Compute: ns(func(b *covered) float64 { return b.compute }), Total: ns(func(b *covered) float64 { return b.total }),
		Wait: ns(func(b *covered) float64 { return b.wait }), CPU: ns(func(b *covered) float64 { return b.cpu }), Late: ns(func(b *covered) float64 { return b.late }),
		Overlap: report.Significant(stat.Median(at(rank, (*covered).overlap))), Bound: report.Significant(stat.Median(at(rank, (*covered).bound))),
		Q1: report.Significant(stat.Quantile(efficiency, 0.25)), Efficiency: report.Significant(stat.Median(efficiency)), Q3: report.Significant(stat.Quantile(efficiency, 0.75)),
		Other: report.Significant(stat.Median(at(other, (*covered).efficiency))), Rounds: len(rounds), Samples: rounds[0][variant][rank].samples,
	}
}

// drawCollectives draws the efficiency of each variant over the operations.
func drawCollectives(s *Sink, all []CollectiveRow) error {
	p := figure.Panel{X: fmt.Sprintf("1 MiB, tcp, %d Mbit/s", collectiveMbps), Y: "T_comp/T_total over T_comp/(T_comp + CPU)", Places: collectiveNames, Zero: true}
	for _, r := range all {
		p.Curve(r.Variant).Add(r.Efficiency, r.Q1, r.Q3)
	}
	p.Curves = slices.DeleteFunc(p.Curves, func(c figure.Curve) bool { return len(c.Y) != len(p.Places) }) // some rows were not measured
	if len(p.Curves) == 0 {
		return errors.New("no figure was drawn: every row was skipped")
	}
	aim := figure.Curve{Name: "the aim", Dashed: true}
	for range p.Places {
		aim.Y = append(aim.Y, 0.9)
	}
	p.Curves = append(p.Curves, aim)
	return figure.Curves(s.Plot, s.Title("overlap of collective operations, tcp, "+strconv.Itoa(collectiveMbps)+" Mbit/s"), p)
}
