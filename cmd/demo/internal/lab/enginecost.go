package lab

import (
	"context"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
)

// engineCost is E16: what the progress engine adds to the shortest message.
var engineCost = Experiment{
	Name:      "E16",
	Title:     "1-byte latency: bare driver, engine explicit, engine with hooks",
	Paper:     "D15 fig. 5",
	Published: "the engine without threads adds 100 ns; with threads the median 100 to 200 ns more, the best about the same",
	Iters:     20000,
	Rounds:    9,
	Run:       runEngineCost,
}

func runEngineCost(ctx context.Context, o Options, s *Sink) (err error) {
	pair, err := duo.Start(ctx, o.CPUs, s.Warn)
	if err != nil {
		return err
	}
	defer func() {
		if e := pair.Close(); err == nil {
			err = e
		}
	}()
	where := placeOf(pair)
	var variants []Variant
	add := func(name string, c duo.Setup) {
		c.Driver = "shm"
		variants = append(variants, Variant{
			Name: "shm", Variant: name, Where: where,
			Measure: func() ([]float64, error) { return latency(ctx, pair, c, 1, o.Iters) },
		})
	}
	add("no engine: bare driver, polled directly", duo.Setup{Bare: true})
	add("engine explicit", duo.Setup{})
	add("engine with hooks", duo.Setup{Hooked: true})
	add("engine explicit, makes every poll", duo.Setup{Spin: -1})
	add("engine with hooks, makes every poll", duo.Setup{Hooked: true, Spin: -1})
	if err := s.Begin("one way, 1 byte; what is added is to the bare driver"); err != nil {
		return err
	}
	all, err := rounds(ctx, o, s, variants)
	if err != nil {
		return err
	}
	return put(s, all)
}

// placeOf says where the two processes run.
func placeOf(p *duo.Pair) string {
	switch {
	case p.Shared():
		return "two processes, oversubscribed: one CPU"
	case p.Apart:
		return "two processes, one core each"
	}
	return "two processes, not bound"
}
