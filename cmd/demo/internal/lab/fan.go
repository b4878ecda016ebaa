package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/marcel"
)

// fan is E21, and E4 with it: one sender, many threads that wait to receive.
var fan = Experiment{
	Name:      "E21",
	Title:     "1-byte latency from one sender to N threads that receive",
	Paper:     "D15 fig. 10; TD09 fig. 4 (E4) with 4 bytes",
	Published: "constant in N; the MPI libraries beside it grow with N",
	Iters:     20000,
	Rounds:    7,
	Run:       runFan,
}

// receivers are the numbers of threads of E21.
var receivers = []int{1, 2, 4, 8, 16, 32, 64}

func runFan(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		var variants []Variant
		for _, size := range []int{1, 4} {
			base := len(variants) + 1 // N = 2: from there on others wait, too
			for _, n := range receivers {
				count := float64(n)
				variants = append(variants, Variant{
					Name: fmt.Sprintf("shm, %d B", size), Variant: fmt.Sprintf("%d threads receive", n), Parameter: "threads that receive", Value: &count, Base: base,
					Where:   placeOf(p) + "; engine with hooks",
					Measure: func() ([]float64, error) { return fanOut(ctx, p, size, n, o.Iters) },
				})
			}
		}
		all, err := measure(ctx, o, s, variants,
			"half a round trip; each message goes to the next thread, which answers",
			"one thread alone spins; of several, each blocks while it waits, so the base is N = 2")
		if err != nil || s.Plot == nil {
			return err
		}
		var panels []figure.Panel
		for i, size := range []string{"1 byte", "4 bytes"} {
			rows := all[i*len(receivers) : (i+1)*len(receivers)]
			panels = append(panels, curvesOf(rows, "threads that receive; "+size, "one-way latency"))
		}
		return figure.Curves(s.Plot, s.Title("one sender, N threads"), panels...)
	})
}

const (
	kindFan = "many receivers"
	fanTag  = 1000 // and the number of the thread
)

// fanOut plays with n threads of rank 1, one after the other.
func fanOut(ctx context.Context, p *duo.Pair, size, n, iters int) (samples []float64, err error) {
	mine, theirs := setups(p, duo.Setup{Driver: "shm", Hooked: true})
	o := duo.Order{Kind: kindFan, Setup: theirs, Iters: iters, Size: size, Count: n}
	err = p.Do(ctx, o, mine, func(w *duo.World) (err error) {
		samples, err = pingMany(w.Gate, fanTag, n, size, iters)
		return err
	})
	return samples, err
}

// pongMany is rank 1's part.
func pongMany(w *duo.World, size, n int) error {
	threads, errs := make([]marcel.Thread, n), make([]error, n)
	for k := range threads {
		threads[k] = w.Sched.Spawn(marcel.Attr{Name: fmt.Sprint("receiver ", k)}, func() {
			errs[k] = pong(w.Gate, fanTag+uint64(k), size)
		})
	}
	for k, t := range threads {
		errs[k] = errors.Join(t.Join(), errs[k])
	}
	return errors.Join(errs...)
}
