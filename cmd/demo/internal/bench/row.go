package bench

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/pm2-go/pm2/cmd/demo/internal/probe"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// Row is one comparison. Times are nanoseconds per operation, allocations are per operation. What the peer has not is
// null.
type Row struct {
	Name       string   `json:"name"`
	Ours       float64  `json:"ours_ns"`
	OursQ1     float64  `json:"ours_q1_ns"`
	OursQ3     float64  `json:"ours_q3_ns"`
	OursAllocs float64  `json:"ours_allocs"`
	Peer       string   `json:"peer"`
	PeerNS     *float64 `json:"peer_ns"`
	PeerQ1     *float64 `json:"peer_q1_ns"`
	PeerQ3     *float64 `json:"peer_q3_ns"`
	PeerAllocs *float64 `json:"peer_allocs"`
	Ratio      *float64 `json:"ratio"`      // ours divided by the peer's
	Better     string   `json:"better"`     // which way the ratio is better: always "lower", for all rows are times
	Speedup    *float64 `json:"speedup"`    // of rows that compare two VPs with one: the time with one over that with two
	OursShare  *float64 `json:"ours_share"` // of rows that compete: the largest share of an operation's doers over the smallest
	PeerShare  *float64 `json:"peer_share"`
	ProbeNS    *float64 `json:"probe_ns"`              // of rows that cross cores: the median during the row
	Reps       int      `json:"reps"`                  // repetitions that count
	Ops        int      `json:"ops"`                   // operations of each
	OursBytes  *float64 `json:"ours_bytes,omitempty"`  // of rows that measure memory: held per operation
	PeerBytes  *float64 `json:"peer_bytes,omitempty"`  // the same of the peer
	BytesRatio *float64 `json:"bytes_ratio,omitempty"` // ours divided by the peer's

	OursThreads *float64 `json:"ours_threads,omitempty"` // of rows that count them: the most OS threads of the process
	PeerThreads *float64 `json:"peer_threads,omitempty"` // the same of the peer

	OursP90  *float64 `json:"ours_p90_ns,omitempty"` // of rows of messages: the medians of the 90th percentiles
	PeerP90  *float64 `json:"peer_p90_ns,omitempty"`
	P90Ratio *float64 `json:"p90_ratio,omitempty"` // ours divided by the peer's
	OursP99  *float64 `json:"ours_p99_ns,omitempty"`
	PeerP99  *float64 `json:"peer_p99_ns,omitempty"`

	lines []string // of Benchmarks
}

func newRow(x *Experiment, reps []repetition, ops int) Row {
	var ours, peer []sample
	var probes []float64
	for _, r := range reps {
		ours, peer, probes = append(ours, r.ours), append(peer, r.peer), append(probes, r.probes...)
	}
	o, p := summarize(ours), summarize(peer)
	row := Row{
		lines:      append(goLines(x.Name, "ours", ours, ops), goLines(x.Name, "peer", peer, ops)...),
		Name:       x.Name,
		Ours:       report.Round(o.median),
		OursQ1:     report.Round(o.q1),
		OursQ3:     report.Round(o.q3),
		OursAllocs: report.Round(o.allocs),
		Peer:       x.PeerName,
		PeerNS:     report.Optional(p.median),
		PeerQ1:     report.Optional(p.q1),
		PeerQ3:     report.Optional(p.q3),
		Better:     "lower",
		ProbeNS:    report.Optional(stat.Quantile(probes, 0.5)),
		Reps:       len(reps),
		Ops:        ops,
	}
	row.PeerAllocs, row.Ratio = new(report.Round(p.allocs)), new(report.Significant(o.median/p.median))
	if x.Competes {
		row.OursShare, row.PeerShare = report.Optional(o.share), report.Optional(p.share)
	}
	if p.bytes > 0 {
		row.OursBytes, row.PeerBytes = report.Optional(o.bytes), report.Optional(p.bytes)
		row.BytesRatio = new(report.Significant(o.bytes / p.bytes))
	}
	if p.p90 > 0 {
		row.OursP90, row.PeerP90, row.OursP99, row.PeerP99 = report.Optional(o.p90), report.Optional(p.p90), report.Optional(o.p99), report.Optional(p.p99)
		row.P90Ratio = new(report.Significant(o.p90 / p.p90))
	}
	row.OursThreads, row.PeerThreads = report.Optional(o.osThreads), report.Optional(p.osThreads)
	if x.Parallel {
		row.Speedup = report.Optional(p.median / o.median)
	}
	return row
}

// Benchmarks implements report.Benchmark.
func (r Row) Benchmarks() []string { return r.lines }

// goLines are the samples of one side, as benchstat reads them.
func goLines(name, side string, samples []sample, ops int) (lines []string) {
	for _, s := range samples {
		lines = append(lines, fmt.Sprintf("Benchmark%s/%s %d %.2f ns/op %.2f allocs/op", goName(name), side, ops, s.ns, s.allocs))
	}
	return lines
}

// goName makes "yield, 1 VP" one word, as the name of a benchmark is.
func goName(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
			continue
		case up:
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

// Head implements report.Row.
func (Row) Head() string {
	return "# Medians [quartiles] per operation; the ratio is ours / peer, lower is better.\n" +
		"# Row                                            Ours            [quartiles]  allocs" +
		"        Peer            [quartiles]  allocs    Ratio  Probe (ns)  Peer is"
}

// BriefHead implements report.Brief.
func (Row) BriefHead() string {
	return "# Medians per operation; the ratio is ours / peer, lower is better. Quartiles, allocations, probes: --wide.\n" +
		"# Row                                            Ours       Peer    Ratio Cores  Peer is"
}

// BriefLine implements report.Brief.
func (r Row) BriefLine() string {
	cores := "-"
	if r.ProbeNS != nil {
		cores = "far"
		if probe.Near(*r.ProbeNS) {
			cores = "near"
		}
	}
	peer := r.remarks()
	if i := strings.LastIndex(r.Peer, ", P="); i >= 0 { // as many as the row has VPs
		peer = r.Peer[:i] + strings.TrimPrefix(peer, r.Peer)
	}
	return fmt.Sprintf("%-44s %8s %10s %8s %5s  %s", r.Name, report.Duration(r.Ours), optional(r.PeerNS, report.Duration), optional(r.Ratio, ratio), cores, peer)
}

// BriefNote implements report.Brief.
func (r Row) BriefNote() string { return "" }

// Line implements report.Row.
func (r Row) Line() string {
	return fmt.Sprintf("%-44s %11s %22s %7s %11s %22s %7s %8s %11s  %s", r.Name,
		report.Duration(r.Ours), brackets(r.OursQ1, r.OursQ3), count(r.OursAllocs),
		optional(r.PeerNS, report.Duration), brackets(*r.PeerQ1, *r.PeerQ3), optional(r.PeerAllocs, count),
		optional(r.Ratio, ratio), optional(r.ProbeNS, ns), r.remarks())
}

// remarks are the peer and what else was measured of the two.
func (r Row) remarks() string {
	s := r.Peer
	if r.BytesRatio != nil {
		s += fmt.Sprintf("; memory %.0f / %.0f B each, %.2fx", *r.OursBytes, *r.PeerBytes, *r.BytesRatio)
	}
	if r.Speedup != nil {
		s += fmt.Sprintf("; speed-up %.2fx", *r.Speedup)
	}
	if r.OursShare != nil {
		s += fmt.Sprintf("; largest/smallest share %.2f, the peer's %.2f", *r.OursShare, *r.PeerShare)
	}
	if r.P90Ratio != nil {
		s += fmt.Sprintf("; 90th percentile %.2fx, 99th %s / %s", *r.P90Ratio, report.Duration(*r.OursP99), report.Duration(*r.PeerP99))
	}
	if r.OursThreads != nil && r.PeerThreads != nil {
		s += fmt.Sprintf("; at most %.0f / %.0f OS threads", *r.OursThreads, *r.PeerThreads)
	}
	return s
}

func brackets(low, high float64) string {
	return "[" + report.Duration(low) + ", " + report.Duration(high) + "]"
}

func ratio(x float64) string {
	if x < 0.01 {
		return strconv.FormatFloat(x, 'f', 5, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func ns(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// count writes allocations: 0 is exact, 0.01 is one in a hundred operations.
func count(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func optional(x *float64, format func(float64) string) string {
	if x == nil {
		return "-"
	}
	return format(*x)
}
