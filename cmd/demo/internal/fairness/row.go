package fairness

import (
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/cmd/demo/internal/report"
)

// Row is the distribution of one kind of delay in one case. Times are nanoseconds.
type Row struct {
	Name     string  `json:"name"`
	CPUBound int     `json:"cpu_bound"`
	Slices   bool    `json:"kernel_slices"`
	Median   float64 `json:"median_ns"`
	P99      float64 `json:"p99_ns"`
	Max      float64 `json:"max_ns"`
	Wakes    int     `json:"wakes"`
}

// NewRow makes the row of delays of kind what, "wake" or "sleep"; it sorts them.
func NewRow(c Case, what string, delays []float64) *Row {
	slices.Sort(delays)
	n := len(delays)
	who := "threads"
	if c.Peer {
		who = "goroutines, P=2"
	}
	return &Row{
		Name: fmt.Sprintf("%s, %s", what, who), CPUBound: c.CPUBound, Slices: c.Slices, Wakes: n,
		Median: report.Round(delays[n/2]), P99: report.Round(delays[n*99/100]), Max: report.Round(delays[n-1]),
	}
}

// Head implements report.Row.
func (*Row) Head() string {
	return fmt.Sprintf("%-24s %9s %7s %12s %12s %12s", "# delay of", "CPU-bound", "slices", "median us", "p99 us", "max us")
}

// Line implements report.Row.
func (r *Row) Line() string {
	with := "no"
	if r.Slices {
		with = "yes"
	}
	return fmt.Sprintf("%-24s %9d %7s %12.1f %12.1f %12.1f", r.Name, r.CPUBound, with, r.Median/1e3, r.P99/1e3, r.Max/1e3)
}
