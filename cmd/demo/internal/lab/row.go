package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// Row is one variant of what an experiment compares. Times are nanoseconds.
type Row struct {
	Name      string   `json:"name"`      // what was measured
	Variant   string   `json:"variant"`   // of which of the things compared
	Parameter string   `json:"parameter"` // which one is varied, with its unit; empty: none
	Value     *float64 `json:"value"`     // of the parameter; null: it has none here
	Best      float64  `json:"best_ns"`
	Q1        float64  `json:"q1_ns"`
	Median    float64  `json:"median_ns"`
	Q3        float64  `json:"q3_ns"`
	Average   float64  `json:"average_ns"`
	P99       float64  `json:"p99_ns"`
	Base      string   `json:"base"`     // the variant it is compared with; empty: it is one
	Added     *float64 `json:"added_ns"` // median of the differences to the base, round by round
	Ratio     *float64 `json:"ratio"`    // to the base, median of the ratios round by round
	RatioQ1   *float64 `json:"ratio_q1"` // and their quartiles
	RatioQ3   *float64 `json:"ratio_q3"`
	RatioLow  *float64 `json:"ratio_low"` // its confidence interval at 95 %; null: the rounds are too few for one
	RatioHigh *float64 `json:"ratio_high"`
	Better    string   `json:"better"`       // which way the ratio is better: "lower", for all are times
	ProbeNS   *float64 `json:"probe_ns"`     // a cache line from core to core, meanwhile
	Polls     *float64 `json:"polls_per_ms"` // rounds of the engine meanwhile; null: not counted
	CPU       *float64 `json:"cpu_ns"`       // that all of the process used for a computation; null: not measured
	CPURatio  *float64 `json:"cpu_ratio"`    // to the base, as ratio
	Rounds    int      `json:"rounds"`       // that count
	Samples   int      `json:"samples"`      // of each round
	Where     string   `json:"where"`        // the conditions
}

// Head implements report.Row.
func (Row) Head() string {
	return "# Medians over the rounds. Added: to the base, round by round; ratio: to the base, lower is better, with its 95 % confidence interval.\n" +
		fmt.Sprintf("# %-48s %9s %10s %10s %24s %10s %10s %10s %8s %18s %9s %8s %8s  %s", "Variant", "Parameter",
			"Best", "Median", "[quartiles]", "Average", "P99", "Added", "Ratio", "[interval]", "CPU ratio", "Polls/ms", "Probe ns", "Base; conditions")
}

// title is what was measured of what.
func (r Row) title() string {
	if r.Name == "" {
		return r.Variant
	}
	return r.Name + ": " + r.Variant
}

// Line implements report.Row.
func (r Row) Line() string {
	where := r.Where
	if r.Base != "" {
		where = "base: " + r.Base + "; " + where
	}
	return fmt.Sprintf("  %-48s %9s %10s %10s %24s %10s %10s %10s %8s %18s %9s %8s %8s  %s", r.title(), perhaps(r.Value, -1),
		report.Duration(r.Best), report.Duration(r.Median), "["+report.Duration(r.Q1)+", "+report.Duration(r.Q3)+"]",
		report.Duration(r.Average), report.Duration(r.P99), signed(r.Added), perhaps(r.Ratio, 4), interval(r.RatioLow, r.RatioHigh, 4),
		perhaps(r.CPURatio, 4), perhaps(r.Polls, -1), perhaps(r.ProbeNS, 1), where)
}

// quartiles are what a figure that compares two rows shows of one.
func (r *Row) quartiles() figure.Measure { return figure.Measure{Q1: r.Q1, Median: r.Median, Q3: r.Q3} }

// signed writes a difference in ns that may be missing.
func signed(ns *float64) string {
	switch {
	case ns == nil:
		return "-"
	case *ns < 0:
		return "-" + report.Duration(-*ns)
	}
	return "+" + report.Duration(*ns)
}

// perhaps writes a figure that may be missing; decimals below 0 are as many as it has.
func perhaps(x *float64, decimals int) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', decimals, 64)
}

// interval writes one that may be missing.
func interval(low, high *float64, decimals int) string {
	if low == nil || high == nil {
		return "-"
	}
	return fmt.Sprintf("[%.*f, %.*f]", decimals, *low, decimals, *high)
}

// Variant is one of the things that an experiment compares.
type Variant struct {
	Name      string   // what is measured
	Variant   string   // of what
	Base      int      // index of the variant that it is compared with; itself: it is a base
	Parameter string   // that is varied, with its unit
	Value     *float64 // its value; nil: none here
	Paired    bool     // sample by sample with its base, as both were measured in turns, not round by round
	Where     string
	Measure   func() ([]float64, error) // one round: samples in ns
	Polls     *float64                  // nil, or where Measure puts the rounds of the engine per ms
	CPU       *float64                  // nil, or where Measure puts the CPU time that the process used, in ns
}

// label names a variant with its parameter, such as "period 10 us".
func (v *Variant) label() string {
	text := v.Name + ": " + v.Variant
	if v.Value != nil {
		name, unit, _ := strings.Cut(v.Parameter, ", ")
		text += ", " + name + " " + number(*v.Value) + " " + unit
	}
	return text
}

// ErrNoVariant reports that Options.Only is in no variant's name.
var ErrNoVariant = errors.New("--only: no variant has in its name")

// chosen are the variants that have a text in their labels, in any case, each with its base.
func chosen(all []Variant, text string) ([]Variant, error) {
	if text == "" {
		return all, nil
	}
	labels := make([]string, len(all))
	for i := range all {
		labels[i] = all[i].label()
	}
	named, err := naming(labels, text)
	if err != nil {
		return nil, err
	}
	wanted := slices.Clone(named)
	for i, yes := range named {
		wanted[all[i].Base] = wanted[all[i].Base] || yes
	}
	var some []Variant
	place := make([]int, len(all))
	for i := range all {
		if wanted[i] {
			place[i] = len(some)
			some = append(some, all[i])
		}
	}
	for i := range some {
		some[i].Base = place[some[i].Base]
	}
	return some, nil
}

// labeled returns those of all that have a text in their labels, in any case; at least one must.
func labeled[T any](all []T, label func(T) string, text string) (some []T, err error) {
	labels := make([]string, len(all))
	for i, x := range all {
		labels[i] = label(x)
	}
	named, err := naming(labels, text)
	for i, yes := range named {
		if yes {
			some = append(some, all[i])
		}
	}
	return some, err
}

// naming reports of each label whether it has a text in it, in any case; at least one must.
func naming(labels []string, text string) ([]bool, error) {
	named := make([]bool, len(labels))
	for i, label := range labels {
		named[i] = strings.Contains(strings.ToLower(label), strings.ToLower(text))
	}
	if !slices.Contains(named, true) {
		return nil, fmt.Errorf("%w %q; there are: %s", ErrNoVariant, text, strings.Join(labels, "; "))
	}
	return named, nil
}

// result is what one round of a variant came to.
type result struct {
	stat.Summary
	samples    []float64
	polls, cpu float64 // as Variant says; 0 if it does not
}

// pick is a figure of each round.
func pick[T any](rounds []T, figure func(round *T) float64) []float64 {
	values := make([]float64, len(rounds))
	for i := range rounds {
		values[i] = figure(&rounds[i])
	}
	return values
}

// rows summarizes the rounds of all variants: of[v][r] is round r of variant v.
func rows(variants []Variant, of [][]result, probeNS *float64) []Row {
	var all []Row
	for i, v := range variants {
		medians := pick(of[i], func(s *result) float64 { return s.Median })
		best := pick(of[i], func(s *result) float64 { return s.Best })
		r := Row{
			Name: v.Name, Variant: v.Variant, Parameter: v.Parameter, Value: v.Value, Better: "lower", Where: v.Where,
			Best:    report.Round(stat.Quantile(best, 0)),
			Q1:      report.Round(stat.Quantile(medians, 0.25)),
			Median:  report.Round(stat.Median(medians)),
			Q3:      report.Round(stat.Quantile(medians, 0.75)),
			Average: report.Round(stat.Median(pick(of[i], func(s *result) float64 { return s.Average }))),
			P99:     report.Round(stat.Median(pick(of[i], func(s *result) float64 { return s.P99 }))),
			ProbeNS: probeNS,
			Rounds:  len(of[i]), Samples: of[i][0].Count,
		}
		if v.Polls != nil {
			r.Polls = new(report.Significant(stat.Median(pick(of[i], func(s *result) float64 { return s.polls }))))
		}
		if v.CPU != nil {
			r.CPU = new(report.Round(stat.Median(pick(of[i], func(s *result) float64 { return s.cpu }))))
		}
		if v.Base != i {
			base := &variants[v.Base]
			r.Base = base.Variant
			var added, ratios, cpu []float64
			compare := func(with, without float64) {
				added, ratios = append(added, with-without), append(ratios, with/without)
			}
			for k := range of[i] {
				if v.Paired {
					for j, t := range of[i][k].samples {
						compare(t, of[v.Base][k].samples[j])
					}
				} else {
					compare(of[i][k].Median, of[v.Base][k].Median)
				}
				if v.CPU != nil && of[v.Base][k].cpu > 0 {
					cpu = append(cpu, of[i][k].cpu/of[v.Base][k].cpu)
				}
			}
			if len(cpu) > 0 {
				r.CPURatio = new(report.Significant(stat.Median(cpu)))
			}
			r.Added, r.Ratio = new(report.Round(stat.Median(added))), new(report.Significant(stat.Median(ratios)))
			r.RatioQ1, r.RatioQ3 = new(report.Significant(stat.Quantile(ratios, 0.25))), new(report.Significant(stat.Quantile(ratios, 0.75)))
			r.RatioLow, r.RatioHigh = confidence(ratios)
		}
		all = append(all, r)
	}
	return all
}

// confidence is the confidence interval of the median at 95 %; nil: the values are too few for one.
func confidence(values []float64) (low, high *float64) {
	a, b, ok := stat.MedianWithin(values, 0.95)
	if !ok {
		return nil, nil
	}
	return new(report.Significant(a)), new(report.Significant(b))
}
