package lab

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/ep"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
)

// epBeside is E14: what the engine costs a program that only computes.
var epBeside = Experiment{
	Name:      "E14",
	Title:     "NAS EP with the engine on and off, against the idle polling period",
	Paper:     "D15 fig. 4",
	Published: "the difference is below 0.5 % at any period, 0 to 1000 us",
	Iters:     ep.Batches(ep.ClassS),
	Rounds:    15,
	Parts:     true,
	Run:       runEPBeside,
}

// idlePeriods are what E14 varies, in us.
var idlePeriods = []float64{0, 1, 10, 100, 1000}

func runEPBeside(ctx context.Context, o Options, s *Sink) error {
	work := newComputation(o.Iters)
	cpus := o.CPUs[:min(2, len(o.CPUs))]
	vps := vpsOf(cpus)
	var variants []Variant
	for _, flavour := range []struct {
		name, where string
		plain       bool
	}{
		{"marcel", "one process, a thread on each VP; its hooks poll", false},
		{"threads", "one process, a goroutine on each CPU; poller threads under SCHED_IDLE beside it", true},
	} {
		// Each comparison has a run with the engine off right beside it: a computation of a
		// fraction of a second sees every mood of the machine.
		measured := func(name string, period *float64, setup duo.Setup, pending bool, base int) {
			setup.CPUs, setup.Plain = cpus, flavour.plain
			polls := new(float64)
			variants = append(variants, Variant{
				Name: flavour.name, Variant: name, Parameter: "idle polling period, us", Value: period, Base: base, Where: flavour.where,
				Polls: polls, CPU: &work.cpu,
				Measure: func() ([]float64, error) { return work.alone(ctx, setup, vps, pending, polls) },
			})
		}
		add := func(name string, period *float64, setup duo.Setup, pending bool) {
			base := len(variants)
			measured("engine off", period, duo.Setup{}, false, base)
			measured(name, period, setup, pending, base)
		}
		add("engine on, nothing pending", nil, duo.Setup{Hooked: true}, false)
		add("engine on, a receive pending, defaults", nil, duo.Setup{Hooked: true}, true)
		for i := range idlePeriods {
			add("engine on, a receive polled for", &idlePeriods[i], duo.Setup{Hooked: true, Params: polling(idlePeriods[i])}, true)
		}
	}
	all, err := measure(ctx, o, s, variants, work.String()+", its sums verified; the base is the run with the engine off right beside it")
	if err != nil {
		return err
	}
	return drawPeriods(s, work.String()+", engine on against off", all)
}

// vpsOf numbers the VPs on some CPUs.
func vpsOf(cpus []int) []int {
	vps := make([]int, len(cpus))
	for i := range vps {
		vps[i] = i
	}
	return vps
}

// polling has every idle VP poll once in so many us, for as long as something is pending.
func polling(us float64) map[string]string {
	return map[string]string{
		"idle-granularity": fmt.Sprint(us), "idle-distribution": "all",
		"blocking-delay": "1h", "adaptive": "off", "spare-lwps": "0",
	}
}

// drawPeriods draws what was added against the period, a panel for each flavour: one curve for
// the rows that have a period, a flat one for each that has none.
func drawPeriods(s *Sink, title string, all []Row) error {
	if s.Plot == nil {
		return nil
	}
	n := len(all) / 2
	return figure.Curves(s.Plot, s.Title(title), periodPanel(all[:n]), periodPanel(all[n:]))
}

// periodPanel is the panel of one flavour.
func periodPanel(all []Row) figure.Panel {
	percent := func(ratio float64) float64 { return (ratio - 1) * 100 }
	panel := figure.Panel{X: "idle polling period (us); " + all[0].Name, Y: "time added to the computation (%)", Zero: true}
	with := figure.Curve{Name: all[len(all)-1].Variant}
	flat := []figure.Curve{{Name: "published bound, 0.5 %", Dashed: true, Y: []float64{0.5}}}
	for i := range all {
		r := &all[i]
		switch {
		case r.Ratio == nil:
			continue
		case r.Value == nil:
			flat = append(flat, figure.Curve{Name: r.Variant, Dashed: true, Y: []float64{percent(*r.Ratio)}})
			continue
		}
		panel.Places = append(panel.Places, number(*r.Value))
		with.Y = append(with.Y, percent(*r.Ratio))
		with.Low = append(with.Low, percent(*r.RatioQ1))
		with.High = append(with.High, percent(*r.RatioQ3))
	}
	panel.Curves = append(panel.Curves, with)
	for _, k := range flat {
		for len(k.Y) < len(panel.Places) {
			k.Y = append(k.Y, k.Y[0])
		}
		panel.Curves = append(panel.Curves, k)
	}
	return panel
}
