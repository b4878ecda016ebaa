package lab

import (
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/size"
)

// The rows in at most report.Columns columns: the conditions, which most rows share, stand above them, and what is left
// out is in the wide table.

// conditions are what stands above the rows that share it.
func conditions(where string, probe *float64) string {
	if probe != nil {
		where += fmt.Sprintf("; core to core %.1f ns", *probe)
	}
	return where
}

// BriefHead implements report.Brief.
func (Row) BriefHead() string {
	return "# Medians over the rounds. Added, ratio: to the base, round by round; lower is better. More: --wide.\n" +
		fmt.Sprintf("# %-48s %9s %9s %9s %9s %7s", "Variant", "Parameter", "Median", "P99", "Added", "Ratio")
}

// BriefLine implements report.Brief.
func (r Row) BriefLine() string {
	return fmt.Sprintf("  %-48s %9s %9s %9s %9s %7s", r.title(), perhaps(r.Value, -1), report.Duration(r.Median), report.Duration(r.P99), signed(r.Added), perhaps(r.Ratio, 3))
}

// BriefNote implements report.Brief.
func (r Row) BriefNote() string { return conditions(r.Where, r.ProbeNS) }

// BriefHead implements report.Brief.
func (CrowdRow) BriefHead() string {
	return "# Medians over the rounds. Paced: elapsed time by the messages of one player, one way. Growth: to the variant's fewest " +
		"threads. Ratio: ours / the peer's of the same rounds, lower is better. More: --wide.\n" +
		fmt.Sprintf("# %-44s %7s %9s %9s %9s %6s %6s", "Variant", "Threads", "Median", "P99", "Paced", "Growth", "Ratio")
}

// BriefLine implements report.Brief.
func (r CrowdRow) BriefLine() string {
	return fmt.Sprintf("  %-44s %7d %9s %9s %9s %6s %6s", r.Variant, r.Threads, report.Duration(r.Median),
		report.Duration(r.P99), report.Duration(r.Paced), perhaps(r.Growth, 2), ratioText(r.Ratio))
}

// BriefNote implements report.Brief.
func (r CrowdRow) BriefNote() string { return conditions(r.Name+"; "+r.Where, r.ProbeNS) }

// BriefHead implements report.Brief.
func (OverlapRow) BriefHead() string {
	return "# Overlap: T_comp/T_total, medians over the rounds; 1 is perfect, higher is better. T_comm: the message alone. Ceiling: what " +
		"the CPU time of the messages leaves. More: --wide.\n" +
		fmt.Sprintf("# %-33s %-14s %6s %9s %9s %7s %7s %5s", "Network, size, computing side", "Messages of", "Factor", "T_comm", "T_total", "Overlap", "Ceiling", "Ratio")
}

// BriefLine implements report.Brief.
func (r OverlapRow) BriefLine() string {
	return fmt.Sprintf("  %-33s %-14s %6g %9s %9s %7.3f %7s %5s", r.Name, r.Variant, r.Factor, report.Duration(r.Alone),
		report.Duration(r.Total), r.Overlap, perhaps(r.Ceiling, 3), perhaps(r.Ratio, 2))
}

// BriefNote implements report.Brief.
func (r OverlapRow) BriefNote() string { return conditions(r.Where, r.ProbeNS) }

// BriefHead implements report.Brief.
func (CollectiveRow) BriefHead() string {
	return "# Medians over the rounds, at the rank that overlaps less. Overlap: T_comp/T_total. Bound: T_comp/(T_comp + CPU). " +
		"Efficiency: overlap/bound, higher is better. More: --wide.\n" +
		fmt.Sprintf("# %-9s %-24s %4s %7s %7s %7s %8s %7s %5s %6s", "Operation", "Variant", "Rank", "T_comm", "T_comp", "T_total", "CPU", "Overlap", "Bound", "Effic.")
}

// BriefLine implements report.Brief.
func (r CollectiveRow) BriefLine() string {
	return fmt.Sprintf("  %-9s %-24s %4d %7s %7s %7s %8s %7.3f %5.3f %6.3f", r.Name, r.Variant, r.Rank, report.Duration(r.Alone),
		report.Duration(r.Compute), report.Duration(r.Total), report.Duration(r.CPU), r.Overlap, r.Bound, r.Efficiency)
}

// BriefNote implements report.Brief.
func (r CollectiveRow) BriefNote() string { return conditions(r.Where, r.ProbeNS) }

// BriefHead implements report.Brief.
func (SendRow) BriefHead() string {
	return "# Send time, computation on both sides: T_total, medians over the rounds. T_comm: the message alone. /max: T_total / " +
		"max(T_comp, T_comm), 1 is perfect. /sum: T_total / (T_comp + T_comm), 1 is no overlap. More: --wide.\n" +
		fmt.Sprintf("# %-18s %-14s %6s %10s %10s %10s %6s %6s %9s", "Network", "Messages of", "Size", "T_comp", "T_comm", "T_total", "/max", "/sum", "Ours/peer")
}

// BriefLine implements report.Brief.
func (r SendRow) BriefLine() string {
	return fmt.Sprintf("  %-18s %-14s %6s %10s %10s %10s %6.3f %6.3f %9s", r.Name, r.Variant, size.Format(r.Size), report.Duration(r.Compute),
		report.Duration(r.Alone), report.Duration(r.Total), r.Max, r.Sum, perhaps(r.Ratio, 2))
}

// BriefNote implements report.Brief.
func (r SendRow) BriefNote() string { return conditions(r.Where, r.ProbeNS) }

// BriefHead implements report.Brief.
func (ContentionRow) BriefHead() string {
	return "# Throughput: medians over the rounds; ratio: to the base, round by round, higher is better. Submit: the time inside " +
		"Submit, as the mean of its middle half. More: --wide.\n" +
		fmt.Sprintf("# %-46s %9s %7s %10s %10s %8s", "Submitters: variant", "Tasks/us", "Ratio", "Submit", "P99.9", "/median")
}

// BriefLine implements report.Brief.
func (r ContentionRow) BriefLine() string {
	return fmt.Sprintf("  %-46s %9.2f %7s %10s %10s %8.1f", r.Name+": "+r.Variant, r.Throughput, perhaps(r.Ratio, 2),
		report.Duration(r.Submit), report.Duration(r.P999), r.Spread)
}

// BriefNote implements report.Brief.
func (r ContentionRow) BriefNote() string { return conditions(r.Where, r.ProbeNS) }

// BriefHead implements report.Brief.
func (GateRow) BriefHead() string {
	return "# Share: messages of the gate with the fewest / of the one with the most, in one round; median and least over the rounds, " +
		"higher is better.\n" +
		fmt.Sprintf("# %-36s %6s %12s %12s %7s %7s %10s", "Network, size: sending side", "Gates", "Fewest/ms", "Most/ms", "Share", "Least", "MB/s")
}

// BriefLine implements report.Brief.
func (r GateRow) BriefLine() string {
	return fmt.Sprintf("  %-36s %6d %12.2f %12.2f %7.3f %7.3f %10.0f", r.Name+": "+r.Variant, r.Gates, r.Smallest, r.Largest, r.Share, r.Worst, r.Bandwidth)
}

// BriefNote implements report.Brief.
func (r GateRow) BriefNote() string { return conditions(r.Where, r.ProbeNS) }

// BriefHead implements report.Brief.
func (ShareRow) BriefHead() string {
	return "# Share: of the queue's tasks that the core ran; even: if all that poll it ran the same number.\n" +
		fmt.Sprintf("# %-44s %5s %7s %7s %9s %8s", "Variant, queue", "Core", "Tasks", "Ran", "Share %", "Even %")
}

// BriefLine implements report.Brief.
func (r ShareRow) BriefLine() string {
	return fmt.Sprintf("  %-44s %5d %7d %7d %9.1f %8.1f", r.Variant+", "+r.Name, r.Core, r.Jobs, r.Ran, r.Percent, r.Even)
}

// BriefNote implements report.Brief.
func (r ShareRow) BriefNote() string { return r.Where }

// BriefHead implements report.Brief.
func (CountRow) BriefHead() string {
	return "# Per task: lines that moved between caches, of these writes to lines that others had, failed looks at locks, and moves of " +
		"the engine's word of pending requests. Cores: that ran tasks. More: --wide.\n" +
		fmt.Sprintf("# %-42s %6s %9s %9s %9s %9s %7s", "Variant, queue", "Tasks", "Moved", "Shared wr", "Failed", "Word", "Cores")
}

// BriefLine implements report.Brief.
func (r CountRow) BriefLine() string {
	return fmt.Sprintf("  %-42s %6d %9.2f %9.2f %9.2f %9.2f %7d", r.Variant+", "+r.Name, r.Jobs, r.Transfers, r.Shared, r.Failed, r.Word, r.Pollers)
}

// BriefNote implements report.Brief.
func (r CountRow) BriefNote() string { return r.Where }
