package lab

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/ep"
)

// dedicatedCore is E12: what it costs to keep one core for communication.
var dedicatedCore = Experiment{
	Name:      "E12",
	Lasts:     86 * time.Second,
	Title:     "one core dedicated to communication: what is lost for computation",
	Paper:     "TBD09, section on dedicated cores",
	Published: "with one core of four dedicated up to 25 % of the compute power is lost",
	Iters:     ep.Batches(ep.ClassS),
	Rounds:    9,
	Parts:     true,
	Run:       runDedicatedCore,
}

func runDedicatedCore(ctx context.Context, o Options, s *Sink) error {
	a, b, two := binding.Pair(o.CPUs)
	if !two {
		return allSkipped(s, "a dedicated core", "it needs two CPUs, and this process may use one only")
	}
	work := newComputation(o.Iters)
	var variants []Variant
	add := func(name string, setup duo.Setup, vps []int, pending bool) {
		setup.CPUs = []int{a, b}
		polls := new(float64)
		variants = append(variants, Variant{
			Polls: polls, CPU: &work.cpu,
			Name: "EP", Variant: name, Where: "one process, two cores",
			Measure: func() ([]float64, error) { return work.alone(ctx, setup, vps, pending, polls) },
		})
	}
	add("both cores compute, engine off", duo.Setup{}, []int{0, 1}, false)
	add("both cores compute, hooks poll for a receive", duo.Setup{Hooked: true}, []int{0, 1}, true)
	add("one core computes, the other one only polls", duo.Setup{Hooked: true, Params: map[string]string{"dedicated": "1"}}, []int{0}, true)
	return measureSpreads(ctx, o, s, work.String(), "time of the computation", variants, work.String()+", its sums verified; with two cores, one of them is half of the compute power")
}
