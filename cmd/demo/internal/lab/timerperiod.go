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
	Title:     "1-byte latency and NAS EP against the timer period",
	Paper:     "D15",
	Published: "from 1 to 100 ms indistinguishable",
	Iters:     10000,
	Rounds:    7,
	Parts:     true,
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
		for _, name := range []string{"1-byte latency", "EP"} {
			base := len(variants)
			for i, period := range timerPeriods {
				ms := float64(period.Milliseconds())
				v := Variant{Name: name, Variant: "timer period " + period.String(), Base: base, Parameter: "timer period, ms", Value: &ms, Where: placeOf(p)}
				setup := duo.Setup{Driver: "shm", Hooked: true, Timer: timerPeriods[i]}
				if name == "EP" {
					polls := new(float64)
					v.Polls, v.CPU = polls, &work.cpu
					setup.CPUs, setup.Params = cpus, polling(10)
					v.Where = "one process, both cores compute, a receive is polled for at each tick"
					v.Measure = func() ([]float64, error) { return work.alone(ctx, setup, vpsOf(cpus), true, polls) }
				} else {
					v.Measure = func() ([]float64, error) { return latency(ctx, p, setup, 1, o.Iters) }
				}
				variants = append(variants, v)
			}
		}
		all, err := measure(ctx, o, s, variants, "1 byte one way over shm, and "+work.String()+"; the base is the period of 1 ms")
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
		{X: "timer period (ms)", Y: "time of the computation, against 1 ms (%)", Zero: true},
	}
	ratio, bound := figure.Curve{Name: "EP, a receive polled for"}, figure.Curve{Name: "0.5 %", Dashed: true}
	for i := range all[n:] {
		r := &all[n+i]
		change := 0.0
		if r.Ratio != nil {
			change = (*r.Ratio - 1) * 100
		}
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
