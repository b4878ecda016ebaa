package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/nas"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// nasKernels is E17: what the engine costs parallel programs that compute and pass messages.
var nasKernels = Experiment{
	Name:      "E17",
	Lasts:     260 * time.Second,
	Title:     "NAS kernels EP, IS and CG on two ranks, with the engine on and off",
	Paper:     "D15 fig. 6",
	Published: "with and without the engine within 2 %",
	Iters:     16,
	Rounds:    8,
	Parts:     true,
	Pair:      true,
	Run:       runNASKernels,
}

// publishedBound is that of D15, in percent.
const publishedBound = 2

// kernelCase is what is measured.
type kernelCase struct {
	kernel, class string
	goroutines    bool // call, on no scheduler of marcel
	turn          int  // of rounds: whether the engine is on first changes
}

// caller is what computes and calls.
func (k *kernelCase) caller() string {
	if k.goroutines {
		return "goroutines"
	}
	return "threads"
}

func (k *kernelCase) problem() string { return strings.ToUpper(k.kernel) + ", class " + k.class }

func (k *kernelCase) label() string { return k.problem() + ", " + k.caller() }

// kernelCases are the cases that have a text in their labels. The largest class takes minutes: it is among them if the
// text names it.
func kernelCases(text string) ([]*kernelCase, error) {
	var all []*kernelCase
	for _, goroutines := range []bool{false, true} {
		for i, class := range nas.Classes {
			if i == len(nas.Classes)-1 && !strings.Contains(strings.ToLower(text), "class "+strings.ToLower(class)) {
				continue
			}
			for _, kernel := range nas.Kernels {
				all = append(all, &kernelCase{kernel: kernel, class: class, goroutines: goroutines})
			}
		}
	}
	return labeled(all, (*kernelCase).label, text)
}

func runNASKernels(ctx context.Context, o Options, s *Sink) error {
	cases, err := kernelCases(o.Only)
	if err != nil {
		return err
	}
	if err := s.Begin(fmt.Sprintf("each share of a run, up to %d of them, is computed with the engine off and on, in turns, in the same two processes; %v after each switch do not count", o.Iters, kernelSettles),
		"all runs are verified against the published results; engine off: messages move inside calls alone"); err != nil {
		return err
	}
	return between(ctx, o, s, func(p *duo.Pair) error {
		entrants := make([]entrant[[]kernelPair], len(cases))
		for i, k := range cases {
			entrants[i] = entrant[[]kernelPair]{k.label(), func() ([]kernelPair, error) { return k.round(ctx, p, o.Iters) }}
		}
		all, err := rowsInTurn(ctx, o, s, entrants, func(i int, of [][][]kernelPair, probeNS *float64) KernelRow {
			r := cases[i].row(of[i])
			r.ProbeNS, r.Where = probeNS, placeOf(p)
			return r
		})
		if err != nil {
			return err
		}
		return drawKernels(s, all)
	})
}

// round measures the case once. Rank 0 calls it, and has rank 1 carry out the same order.
func (k *kernelCase) round(ctx context.Context, p *duo.Pair, shares int) ([]kernelPair, error) {
	o := duo.Order{Kind: kindKernel, Iters: shares, Count: k.turn, Kernel: k.kernel, Class: k.class}
	k.turn++
	return onPair(ctx, p, duo.Setup{Driver: "shm", Plain: k.goroutines}, o, func(w *duo.World) ([]kernelPair, error) {
		return kernelInTurns(ctx, w, &o)
	})
}

// KernelRow is one kernel, with the engine on beside off. Times are nanoseconds, of a whole run at the pace of the
// shares.
type KernelRow struct {
	Name      string   `json:"name"` // kernel and class
	Caller    string   `json:"caller"`
	Off       float64  `json:"off_ns"` // medians of all pairs
	On        float64  `json:"on_ns"`
	Ratio     float64  `json:"ratio"` // on / off, median of the ratios of the pairs
	RatioQ1   float64  `json:"ratio_q1"`
	RatioQ3   float64  `json:"ratio_q3"`
	RatioLow  *float64 `json:"ratio_low"` // its confidence interval at 95 %; null: the pairs are too few for one
	RatioHigh *float64 `json:"ratio_high"`
	CPUOff    float64  `json:"cpu_off_ns"` // CPU time that a process used, mean of the two
	CPUOn     float64  `json:"cpu_on_ns"`
	CPURatio  float64  `json:"cpu_ratio"` // likewise
	CPUQ1     float64  `json:"cpu_ratio_q1"`
	CPUQ3     float64  `json:"cpu_ratio_q3"`
	CPULow    *float64 `json:"cpu_ratio_low"`
	CPUHigh   *float64 `json:"cpu_ratio_high"`
	Better    string   `json:"better"` // which way the ratios are better
	Pairs     int      `json:"pairs"`
	Rounds    int      `json:"rounds"` // that count; in each a run with the engine off, and one with it on, was verified
	ProbeNS   *float64 `json:"probe_ns"`
	Where     string   `json:"where"`
}

// Head implements report.Row.
func (KernelRow) Head() string {
	return "# Times: of a whole run, medians of all pairs. Ratio: engine on / off, pair by pair, lower is better, with its 95 % confidence interval and quartiles; of the time that passes, and of the CPU time of both processes.\n" +
		fmt.Sprintf("# %-16s %-12s %10s %10s %8s %18s %18s %10s %10s %9s %18s %18s %6s %8s  %s", "Kernel", "Callers", "Off", "On", "Ratio", "[interval]", "[quartiles]",
			"CPU off", "CPU on", "CPU ratio", "[interval]", "[quartiles]", "Pairs", "Probe ns", "Conditions")
}

// Line implements report.Row.
func (r KernelRow) Line() string {
	return fmt.Sprintf("  %-16s %-12s %10s %10s %8.4f %18s %18s %10s %10s %9.4f %18s %18s %6d %8s  %s", r.Name, r.Caller, report.Duration(r.Off), report.Duration(r.On),
		r.Ratio, interval(r.RatioLow, r.RatioHigh, 4), interval(&r.RatioQ1, &r.RatioQ3, 4), report.Duration(r.CPUOff), report.Duration(r.CPUOn),
		r.CPURatio, interval(r.CPULow, r.CPUHigh, 4), interval(&r.CPUQ1, &r.CPUQ3, 4), r.Pairs, perhaps(r.ProbeNS, 1), r.Where)
}

// BriefHead implements report.Brief.
func (KernelRow) BriefHead() string {
	return "# Times: of a whole run, medians of all pairs. Ratio: engine on / off, pair by pair, lower is better, with its 95 % confidence interval. More: --wide.\n" +
		fmt.Sprintf("# %-12s %-10s %9s %9s %6s %14s %9s %14s %5s", "Kernel", "Callers", "Off", "On", "Ratio", "[interval]", "CPU ratio", "[interval]", "Pairs")
}

// BriefLine implements report.Brief.
func (r KernelRow) BriefLine() string {
	return fmt.Sprintf("  %-12s %-10s %9s %9s %6.3f %14s %9.3f %14s %5d", r.Name, r.Caller, report.Duration(r.Off), report.Duration(r.On),
		r.Ratio, interval(r.RatioLow, r.RatioHigh, 3), r.CPURatio, interval(r.CPULow, r.CPUHigh, 3), r.Pairs)
}

// BriefNote implements report.Brief.
func (r KernelRow) BriefNote() string { return conditions(r.Where, r.ProbeNS) }

// row summarizes the rounds of a case.
func (k *kernelCase) row(rounds [][]kernelPair) KernelRow {
	pairs := slices.Concat(rounds...)
	r := KernelRow{Name: k.problem(), Caller: k.caller(), Better: "lower", Pairs: len(pairs), Rounds: len(rounds)}
	compare := func(pick func(p *kernelPair) [2]float64) (off, on, ratio, q1, q3 float64, low, high *float64) {
		var times [2][]float64
		var ratios []float64
		for i := range pairs {
			t := pick(&pairs[i])
			times[0], times[1] = append(times[0], t[0]), append(times[1], t[1])
			if t[0] > 0 {
				ratios = append(ratios, t[1]/t[0])
			}
		}
		low, high = confidence(ratios)
		return report.Round(stat.Median(times[0])), report.Round(stat.Median(times[1])), report.Significant(stat.Median(ratios)),
			report.Significant(stat.Quantile(ratios, 0.25)), report.Significant(stat.Quantile(ratios, 0.75)), low, high
	}
	r.Off, r.On, r.Ratio, r.RatioQ1, r.RatioQ3, r.RatioLow, r.RatioHigh = compare(func(p *kernelPair) [2]float64 { return p.took })
	r.CPUOff, r.CPUOn, r.CPURatio, r.CPUQ1, r.CPUQ3, r.CPULow, r.CPUHigh = compare(func(p *kernelPair) [2]float64 { return p.cpu })
	return r
}

// drawKernels draws what the engine adds to each kernel, a panel for each kind of callers.
func drawKernels(s *Sink, all []KernelRow) error {
	if s.Plot == nil {
		return nil
	}
	var panels []figure.Panel
	for rest := all; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(r KernelRow) bool { return r.Caller != rest[0].Caller })
		if n < 0 {
			n = len(rest)
		}
		panels, rest = append(panels, kernelPanel(rest[:n])), rest[n:]
	}
	return figure.Curves(s.Plot, s.Title("NAS kernels on two ranks, engine on against off, medians of pairs with their intervals"), panels...)
}

func kernelPanel(rows []KernelRow) figure.Panel {
	percent := func(ratio float64) float64 { return (ratio - 1) * 100 }
	bound := func(x *float64, otherwise float64) float64 {
		if x == nil {
			return percent(otherwise)
		}
		return percent(*x)
	}
	panel := figure.Panel{X: "kernel and class; " + rows[0].Caller, Y: "added by the engine (%)", Zero: true}
	time, cpu := figure.Curve{Name: "time"}, figure.Curve{Name: "CPU time of both processes"}
	most := figure.Curve{Name: fmt.Sprintf("published bound, %d %%", publishedBound), Dashed: true}
	for i := range rows {
		r := &rows[i]
		panel.Places = append(panel.Places, strings.Replace(r.Name, ", class", "", 1))
		time.Add(percent(r.Ratio), bound(r.RatioLow, r.RatioQ1), bound(r.RatioHigh, r.RatioQ3))
		cpu.Add(percent(r.CPURatio), bound(r.CPULow, r.CPUQ1), bound(r.CPUHigh, r.CPUQ3))
		most.Y = append(most.Y, publishedBound)
	}
	panel.Curves = []figure.Curve{time, cpu, most}
	return panel
}
