package lab

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
)

// semaphoreWait is E9: what it costs to block on a semaphore until the message is there.
var semaphoreWait = Experiment{
	Name:      "E9",
	Lasts:     3 * time.Second,
	Title:     "waiting on a semaphore instead of spinning, and spinning for a fixed time first",
	Paper:     "TBD09 fig. 7",
	Published: "the semaphore adds 750 ns; spinning for 5 us before it blocks removes them",
	Iters:     10000,
	Rounds:    9,
	Parts:     true,
	Pair:      true,
	Run:       runSemaphoreWait,
}

func runSemaphoreWait(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		var variants []Variant
		for _, driver := range []string{"shm", "tcp"} {
			base := len(variants)
			iters := o.Iters
			if driver == "tcp" {
				iters = max(iters/5, 1)
			}
			add := func(name string, c duo.Setup) {
				c.Driver, c.Hooked = driver, true
				variants = append(variants, Variant{
					Name: driver, Variant: name, Base: base, Where: placeOf(p),
					Measure: func() ([]float64, error) { return latency(ctx, p, c, 1, iters) },
				})
			}
			const forEver = time.Second
			add("spins until it is there", duo.Setup{Spin: forEver})
			add("blocks at once on a semaphore", duo.Setup{Spin: -1, Params: map[string]string{"busy-wait": "0"}})
			add("spins 5 us, then blocks", duo.Setup{Spin: 5 * time.Microsecond, Params: map[string]string{"busy-wait": "0"}})
		}
		return measureSpreads(ctx, o, s, "how a thread waits, 1 byte", "one-way latency", variants, "one way, 1 byte, engine with hooks; while a thread is blocked its idle VP polls and wakes it",
			"an answer over tcp takes longer than 5 us, one over shm does not")
	})
}
