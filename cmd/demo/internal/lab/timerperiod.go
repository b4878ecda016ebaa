package lab

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
)

// timerPeriod is E15: does the period of the timer hook matter?
var timerPeriod = Experiment{
	Name:      "E15",
	Lasts:     908 * time.Second,
	Title:     "1-byte latency and NAS EP against the timer period",
	Paper:     "D15",
	Published: "from 1 to 100 ms indistinguishable",
	Iters:     10000,
	Rounds:    7,
	Parts:     true,
	Pair:      true,
	Run:       runTimerPeriod,
}

// timerPeriods are what E15 varies.
var timerPeriods = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
}

func runTimerPeriod(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		cpus := o.CPUs[:1]
		if a, b, two := binding.Pair(o.CPUs); two {
			cpus = []int{a, b}
		}
		work := newComputation(o.Iters / batchesPerIters)
		var variants []Variant
		for i, period := range timerPeriods {
			ms := float64(period.Milliseconds())
			variants = append(variants, Variant{
				Name: "1-byte latency", Variant: "timer period " + period.String(), Parameter: "timer period, ms", Value: &ms, Where: placeOf(p),
				Measure: func() ([]float64, error) {
					return latency(ctx, p, duo.Setup{Driver: "shm", Hooked: true, Timer: timerPeriods[i]}, 1, o.Iters)
				},
			})
		}
		for i, period := range timerPeriods {
			ms := float64(period.Milliseconds())
			x := &switching{work: work, setup: duo.Setup{CPUs: cpus, Timer: timerPeriods[i]}, asked: true}
			v := Variant{Name: "EP", Parameter: "timer period, ms", Value: &ms, Where: "one process, both cores compute, a receive is pending"}
			variants = append(variants, x.variants(ctx, v, "timer period "+period.String(), len(variants))...)
		}
		all, err := measure(ctx, o, s, variants, "1 byte one way over shm, and "+work.String()+"; the base is the period of 1 ms, that of EP the same threads with the engine switched off in between")
		if err != nil || s.Plot == nil {
			return err
		}
		return drawTimer(s, all)
	})
}

// batchesPerIters lets one option scale both halves: 10000 exchanges go with all 256 batches of class S.
const batchesPerIters = 39

// drawTimer draws the latency on the left, the computation on the right.
func drawTimer(s *Sink, all []Row) error {
	n := len(timerPeriods)
	panels := []figure.Panel{
		curvesOf(all[:n], "timer period (ms)", "one-way latency"),
		{X: "timer period (ms)", Y: "time of the computation, engine on against off (%)", Zero: true},
	}
	ratio, bound := figure.Curve{Name: "EP, a receive pending"}, figure.Curve{Name: "0.5 %", Dashed: true}
	for i := range all[n:] {
		r := &all[n+i]
		if r.Ratio == nil {
			continue
		}
		change := (*r.Ratio - 1) * 100
		panels[1].Places = append(panels[1].Places, number(*r.Value))
		ratio.Y, bound.Y = append(ratio.Y, change), append(bound.Y, 0.5)
	}
	panels[1].Curves = []figure.Curve{ratio, bound}
	return figure.Curves(s.Plot, s.Title("timer period"), panels...)
}

// curvesOf draws best, median and average of the rows against their parameter.
func curvesOf(all []Row, x, y string) figure.Panel {
	p := figure.Panel{X: x, Y: y, Times: true}
	best, median, average := figure.Curve{Name: "best", Dashed: true}, figure.Curve{Name: "median"}, figure.Curve{Name: "average"}
	for i := range all {
		r := &all[i]
		label := "none"
		if r.Value != nil {
			label = number(*r.Value)
		}
		p.Places = append(p.Places, label)
		best.Y = append(best.Y, positiveOr(r.Best))
		median.Y = append(median.Y, positiveOr(r.Median))
		average.Y = append(average.Y, positiveOr(r.Average))
	}
	p.Curves = []figure.Curve{median, average, best}
	return p
}

func positiveOr(v float64) float64 {
	if v > 0 {
		return v
	}
	return math.NaN()
}

// number writes a parameter as short as it goes.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
