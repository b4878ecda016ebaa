package pingpong

import (
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

// Row is one size. All times are one way, in nanoseconds.
type Row struct {
	Name      string   `json:"name"`
	Size      int      `json:"size"`  // bytes
	Iters     int      `json:"iters"` // counted exchanges of each pair
	Threads   int      `json:"threads"`
	Min       float64  `json:"min_ns"`
	Median    float64  `json:"median_ns"`
	P90       float64  `json:"p90_ns"`
	P99       float64  `json:"p99_ns"`
	Bandwidth float64  `json:"bandwidth_MBps"` // all pairs together, one way
	ProbeNS   *float64 `json:"probe_ns"`       // just before the row; null with one CPU
	Loan      bool     `json:"loan,omitempty"`
	Touch     bool     `json:"touch,omitempty"`
	Both      bool     `json:"bidirectional,omitempty"` // times are of both directions together, and so is the bandwidth
}

func newRow(bytes, iters, threads int, t *tally, probe float64) Row {
	median := t.oneWay(50)
	return Row{
		Name:      "pingpong",
		Size:      bytes,
		Iters:     iters,
		Threads:   threads,
		Min:       report.Round(t.oneWay(0)),
		Median:    report.Round(median),
		P90:       report.Round(t.oneWay(90)),
		P99:       report.Round(t.oneWay(99)),
		Bandwidth: report.Significant(float64(bytes) * float64(threads) / median * 1e3),
		ProbeNS:   report.Optional(probe),
	}
}

// Head implements report.Row.
func (Row) Head() string {
	return "# Size (B)     Iters   Min (us)  Median (us)     P99 (us)   Bandwidth (MB/s) Probe (ns)"
}

// Line implements report.Row.
func (r Row) Line() string {
	probe := "-"
	if r.ProbeNS != nil {
		probe = fmt.Sprintf("%.1f", *r.ProbeNS)
	}
	return fmt.Sprintf("%10d %9d %10.3f %12.3f %12.3f %18.2f %10s",
		r.Size, r.Iters, r.Min/1e3, r.Median/1e3, r.P99/1e3, r.Bandwidth, probe)
}

// WindowRow is one size with windows. All times are per message: a window's, from its first send until the answer to
// its last message, divided by the messages in it.
type WindowRow struct {
	Name      string   `json:"name"`
	Size      int      `json:"size"`   // bytes
	Window    int      `json:"window"` // messages
	Iters     int      `json:"iters"`  // counted windows of each pair
	Threads   int      `json:"threads"`
	Min       float64  `json:"min_ns"`
	Median    float64  `json:"median_ns"`
	P99       float64  `json:"p99_ns"`
	Bandwidth float64  `json:"bandwidth_MBps"` // all pairs together
	Rate      float64  `json:"rate_per_s"`     // messages, all pairs together
	ProbeNS   *float64 `json:"probe_ns"`
	Both      bool     `json:"bidirectional,omitempty"`
}

// Windowed is the row of a run with windows of that many messages.
func (r Row) Windowed(window int) WindowRow {
	messages := float64(r.Threads)
	if r.Both {
		messages *= 2
	}
	return WindowRow{
		"window", r.Size, window, r.Iters, r.Threads, r.Min, r.Median, r.P99, r.Bandwidth,
		report.Significant(messages / r.Median * 1e9), r.ProbeNS, r.Both,
	}
}

// Head implements report.Row.
func (WindowRow) Head() string { return Row{}.Head() + "   Messages/s" }

// Line implements report.Row.
func (r WindowRow) Line() string {
	plain := Row{Name: r.Name, Size: r.Size, Iters: r.Iters, Threads: r.Threads, Min: r.Min, Median: r.Median, P99: r.P99,
		Bandwidth: r.Bandwidth, ProbeNS: r.ProbeNS}
	return fmt.Sprintf("%s %12.0f", plain.Line(), r.Rate)
}
