package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// sendTime is E20: what a send takes, by its size, beside computations of a few fixed lengths.
var sendTime = Experiment{
	Name:  "E20",
	Lasts: 24 * time.Second, Title: "send time against size for several computation times, computation on both sides",
	Paper: "D15 fig. 9", Published: "max(T_comp, T_comm) from 100 us of computation on; the MPI libraries the sum",
	Iters: 10, Rounds: 5, Linked: true, Network: true,
	Run: runSendTime,
}

var (
	sendSizes = []int{4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20}
	sendRates = []int{1000, 5000}
	sendTimes = lengths{of: []float64{0, 100e3, 1e6, 10e6}, ns: true}
)

// SendRow is a message beside a computation of a fixed length.
type SendRow struct {
	Name    string   `json:"name"`      // the network
	Variant string   `json:"variant"`   // whose messages
	Size    int      `json:"size"`      // bytes
	Compute float64  `json:"t_comp_ns"` // where nothing else uses the CPU
	Alone   float64  `json:"t_comm_ns"`
	Q1      float64  `json:"q1_total_ns"`
	Total   float64  `json:"t_total_ns"` // median over the rounds
	Q3      float64  `json:"q3_total_ns"`
	Max     float64  `json:"total_to_max"` // Total / max(Compute, Alone)
	Sum     float64  `json:"total_to_sum"` // Total / (Compute + Alone)
	Ratio   *float64 `json:"ratio"`        // total of ours / of this peer, in the same rounds
	Better  string   `json:"better"`
	ProbeNS *float64 `json:"probe_ns"`
	Rounds  int      `json:"rounds"`
	Samples int      `json:"samples"`
	Where   string   `json:"where"`
}

// Head implements report.Row.
func (SendRow) Head() string {
	return "# Send time, computation on both sides: T_total, medians over the rounds. T_comm: the message alone.\n" +
		"# /max: T_total / max(T_comp, T_comm), 1 is perfect. /sum: T_total / (T_comp + T_comm), 1 is no overlap. Ours/peer: of T_total.\n" +
		fmt.Sprintf("# %-18s %-14s %6s %10s %10s %10s %24s %7s %7s %10s %8s  %s", "Network", "Messages of", "Size", "T_comp",
			"T_comm", "T_total", "[quartiles]", "/max", "/sum", "Ours/peer", "Probe ns", "Conditions")
}

// Line implements report.Row.
func (r SendRow) Line() string {
	return fmt.Sprintf("  %-18s %-14s %6s %10s %10s %10s %24s %7.3f %7.3f %10s %8s  %s", r.Name, r.Variant, size.Format(r.Size),
		report.Duration(r.Compute), report.Duration(r.Alone), report.Duration(r.Total),
		fmt.Sprintf("[%s, %s]", report.Duration(r.Q1), report.Duration(r.Q3)), r.Max, r.Sum,
		perhaps(r.Ratio, 2), perhaps(r.ProbeNS, 1), r.Where)
}

func runSendTime(ctx context.Context, o Options, s *Sink) error {
	return overLink(ctx, o, s, sendRates, []setting{openMPITCP}, func(x *overlapLab) error {
		contests := x.contests(ctx, sendSizes, sendRates, sendTimes, bothSides)
		var all []SendRow
		err := contend(ctx, o, s, contests, func(c *contest, k int, rounds, ours [][]point, compared bool, probe *float64) report.Row {
			r := c.sendRow(k, rounds, ours, compared)
			r.ProbeNS = probe
			all = append(all, r)
			return r
		})
		if err != nil || s.Plot == nil {
			return err
		}
		return drawSendTime(s, all)
	}, totalOfMessage)
}

// sendRow summarizes the rounds of a contest at one length of computation.
func (ct *contest) sendRow(k int, rounds, ours [][]point, compared bool) SendRow {
	var alone, total, most, sum, ratio []float64
	for i := range rounds {
		p := &rounds[i][k]
		t := stat.Median(p.total)
		alone, total = append(alone, p.alone), append(total, t)
		most, sum = append(most, t/max(p.compute, p.alone)), append(sum, t/(p.compute+p.alone))
		if compared {
			ratio = append(ratio, stat.Median(ours[i][k].total)/t)
		}
	}
	r := SendRow{
		Name: network(ct.mbps), Variant: ct.variant, Size: ct.size, Compute: ct.long.of[k], Better: "lower", Where: ct.where,
		Alone: report.Round(stat.Median(alone)), Total: report.Round(stat.Median(total)),
		Q1: report.Round(stat.Quantile(total, 0.25)), Q3: report.Round(stat.Quantile(total, 0.75)),
		Max: report.Significant(stat.Median(most)), Sum: report.Significant(stat.Median(sum)),
		Rounds: len(rounds), Samples: len(rounds[0][k].total),
	}
	if compared {
		r.Ratio = report.Optional(report.Significant(stat.Median(ratio)))
	}
	return r
}

// drawSendTime draws a panel for each network: a curve for each length of computation, ours
// throughout, the peer's dashed.
func drawSendTime(s *Sink, all []SendRow) error {
	var panels []figure.Panel
	var places []string
	for _, bytes := range sendSizes {
		places = append(places, size.Format(bytes))
	}
	for _, mbps := range sendRates {
		p := figure.Panel{X: "bytes; " + network(mbps), Y: "send time", Places: places, Times: true}
		for _, r := range all {
			if r.Name != network(mbps) {
				continue
			}
			name := r.Variant + ", no computation"
			if r.Compute > 0 {
				name = r.Variant + ", computing " + strings.Replace(time.Duration(r.Compute).String(), "µ", "u", 1)
			}
			c := p.Curve(name)
			c.Dashed = c.Dashed || r.Ratio != nil
			c.Add(r.Total, r.Q1, r.Q3)
		}
		panels = append(panels, p)
	}
	return figure.Curves(s.Plot, s.Title("send time beside computations"), panels...)
}
