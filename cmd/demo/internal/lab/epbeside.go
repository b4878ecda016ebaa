package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/ep"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
)

// epBeside is E14: what the engine costs a program that only computes.
var epBeside = Experiment{
	Name:      "E14",
	Lasts:     450 * time.Second,
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
	var variants []Variant
	for _, world := range []struct {
		name, where string
		plain       bool
	}{
		{"marcel", "one process, a thread on each VP; its hooks poll", false},
		{"threads", "one process, a goroutine on each CPU; the progressor beside it", true},
	} {
		add := func(name string, period *float64, params map[string]string, asked bool) {
			x := &switching{work: work, setup: duo.Setup{CPUs: cpus, Plain: world.plain, Params: params}, asked: asked}
			v := Variant{Name: world.name, Parameter: "idle polling period, us", Value: period, Where: world.where}
			variants = append(variants, x.variants(ctx, v, name, len(variants))...)
		}
		add("engine on, nothing pending", nil, nil, false)
		for i := range idlePeriods {
			add("engine on, a receive pending", &idlePeriods[i], map[string]string{"idle-granularity": fmt.Sprint(idlePeriods[i])}, true)
		}
		add("engine on, a receive polled for for ever", nil, polling(10), true)
	}
	all, err := measure(ctx, o, s, variants, work.String()+", its sums verified; the base is the same threads with the engine switched off in between")
	if err != nil {
		return err
	}
	return drawPeriods(s, work.String()+", engine on against off", all)
}

// polling has every idle VP poll once in so many us, for as long as something is pending.
func polling(us float64) map[string]string {
	return map[string]string{
		"idle-granularity": fmt.Sprint(us), "idle-distribution": "all",
		"blocking-delay": "1h", "spare-lwps": "0",
	}
}

// drawPeriods draws what was added against the period, a panel for each flavour: one curve for the rows that have a
// period, a flat one for each that has none.
func drawPeriods(s *Sink, title string, all []Row) error {
	if s.Plot == nil {
		return nil
	}
	n := len(all) / 2
	return figure.Curves(s.Plot, s.Title(title), periodPanel(all[:n]), periodPanel(all[n:]))
}

// periodPanel is the panel of one world.
func periodPanel(all []Row) figure.Panel {
	percent := func(ratio float64) float64 { return (ratio - 1) * 100 }
	panel := figure.Panel{X: "idle polling period (us); " + all[0].Name, Y: "time added to the computation (%)", Zero: true}
	var with figure.Curve
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
		panel.Places, with.Name = append(panel.Places, number(*r.Value)), r.Variant
		with.Add(percent(*r.Ratio), percent(*r.RatioQ1), percent(*r.RatioQ3))
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
