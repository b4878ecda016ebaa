package lab

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/marcel"
)

// nload is E23: a ping-pong beside threads that compute and never yield.
var nload = Experiment{
	Name:      "E23",
	Lasts:     14 * time.Second,
	Title:     "1 MiB ping-pong beside N threads that compute, in either process",
	Paper:     "D15 fig. 12",
	Published: "the median is constant, the longest below 20 ms; an MPI library grows linearly once the cores are oversubscribed",
	Iters:     100,
	Rounds:    5,
	Pair:      true,
	Network:   true,
	Run: func(ctx context.Context, o Options, s *Sink) error {
		c := crowd{
			name: "N-load, 1 MiB", mode: "load", size: 1 << 20, threads: append([]int{0}, powers(32)...), peers: []setting{openMPI, openMPIYield, mpich}, paced: true,
			ours: []crowdVariant{
				{"ours", duo.Setup{}, playBesideLoad},
				{"ours, waits spin for ever", duo.Setup{Spin: time.Second}, playBesideLoad},
			},
			anywhere: true, axis: "threads that compute, in each process",
			remarks: []string{"the threads that compute never yield, on the core of the ping-pong; growth is to none of them",
				"compared are paced times: of a wait that spins most messages are fast, and some wait until the load has had its slices"},
		}
		return c.run(ctx, o, s)
	},
}

const kindLoad = "beside load"

// besideLoad runs f beside n threads that compute.
func besideLoad(w *duo.World, n int, f func() error) error {
	var end atomic.Bool
	threads := make([]marcel.Thread, n)
	before := w.Sched.Stats().Total.Seizures
	for k := range threads {
		threads[k] = w.Sched.Spawn(marcel.Attr{Name: fmt.Sprint("load ", k)}, func() { compute(&end) })
	}
	err := settle(w, before, n)
	if err == nil {
		err = f()
	}
	end.Store(true)
	for _, t := range threads {
		err = errors.Join(err, t.Join())
	}
	return err
}

// playBesideLoad plays while n threads of either rank compute.
func playBesideLoad(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (crowdSample, error) {
	c.Driver, c.Hooked = p.Network(), true
	return onPair(ctx, p, c, duo.Order{Kind: kindLoad, Iters: iters, Size: size, Count: n}, func(w *duo.World) (x crowdSample, err error) {
		x.players = 1
		err = besideLoad(w, n, func() (err error) {
			x.ns, err = ping(w.Gate, size, iters)
			return err
		})
		return x, err
	})
}

// pongBesideLoad is rank 1's part.
func pongBesideLoad(w *duo.World, o *duo.Order) error {
	return besideLoad(w, o.Count, func() error { return pong(w.Gate, latencyTag, o.Size) })
}

// settle waits until n threads that compute have been preempted: each has its first slice as an ordinary thread, and a
// message that came meanwhile would wait for those that are left. From then on they share the VP, behind all threads
// that are woken.
func settle(w *duo.World, before uint64, n int) error {
	lost := func() int { return int(w.Sched.Stats().Total.Seizures - before) }
	for began := time.Now(); n > 1 && lost() < n; marcel.Sleep(time.Millisecond) {
		if time.Since(began) > settlePatience {
			return fmt.Errorf("%d of %d threads that compute have been preempted after %v: this machine is too busy to measure beside them", lost(), n, settlePatience)
		}
	}
	if n > 0 {
		marcel.Sleep(settleLoad)
	}
	return nil
}

const (
	settlePatience = time.Minute
	settleLoad     = 50 * time.Millisecond // how long they compute then before something is measured beside them
)
