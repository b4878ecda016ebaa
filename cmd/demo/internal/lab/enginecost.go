package lab

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
)

// engineCost is E16: what the progress engine adds to the shortest message.
var engineCost = Experiment{
	Name:      "E16",
	Lasts:     2 * time.Second,
	Title:     "1-byte latency: no engine, engine explicit, engine with hooks",
	Paper:     "D15 fig. 5",
	Published: "the engine without threads adds 100 ns; with threads the median 100 to 200 ns more, the best about the same",
	Iters:     20000,
	Rounds:    9,
	Parts:     true,
	Pair:      true,
	Run:       runEngineCost,
}

func runEngineCost(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		var variants []Variant
		add := func(name string, c duo.Setup) {
			c.Driver = "shm"
			variants = append(variants, Variant{
				Name: "shm", Variant: name, Where: placeOf(p),
				Measure: func() ([]float64, error) { return latency(ctx, p, c, 1, o.Iters) },
			})
		}
		add("no engine: bare driver, polled directly", duo.Setup{Bare: true})
		add("engine explicit", duo.Setup{})
		add("engine with hooks", duo.Setup{Hooked: true})
		add("engine with hooks, a goroutine waits", duo.Setup{Hooked: true, Plain: true, Spin: time.Second})
		add("engine explicit, makes every poll", duo.Setup{Spin: -1})
		add("engine with hooks, makes every poll", duo.Setup{Hooked: true, Spin: -1})
		return measureSpreads(ctx, o, s, "1 byte over shm", "one-way latency", variants, "one way, 1 byte; what is added is to the bare driver, and includes matching, ordering and credit",
			"a waiter polls its gate itself for 5 us (the goroutine for 1 s), then leaves it to the engine; 'makes every poll': at once")
	})
}
