package lab

import (
	"context"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
)

// fan is E21, and E4 with it: one sender, many threads that wait to receive. The paper's receivers wait on a semaphore,
// and so does the second variant of ours.
var fan = Experiment{
	Name:      "E21",
	Lasts:     7 * time.Second,
	Title:     "1-byte latency from one sender to N threads that receive",
	Paper:     "D15 fig. 10; TD09 fig. 4 (E4) with 4 bytes",
	Published: "constant in N; the MPI libraries beside it grow with N",
	Iters:     20000,
	Rounds:    5,
	Pair:      true,
	Network:   true,
	Run: func(ctx context.Context, o Options, s *Sink) error {
		c := crowd{
			name: "1 to N, 1 B", mode: "fan", size: 1, threads: powers(256), peers: allPeers,
			ours: []crowdVariant{
				{"ours", duo.Setup{}, fanOut},
				{"ours, each blocks at once", duo.Setup{Spin: -1, Params: map[string]string{"busy-wait": "0"}}, fanOut},
			},
			anywhere: true, axis: "threads that receive",
			remarks: []string{"each message goes to the next thread, which answers; ours/peer is of the first variant",
				"by default a thread polls its gate for 5 us before it blocks, which a single one need never do"},
		}
		return c.run(ctx, o, s)
	},
}

// allPeers are those whose waits differ.
var allPeers = []setting{openMPI, openMPIYield, openMPIUCX, mpich}

// powers are the powers of two from 1 to high.
func powers(high int) (all []int) {
	for n := 1; n <= high; n *= 2 {
		all = append(all, n)
	}
	return all
}

const (
	kindFan = "many receivers"
	fanTag  = 10000 // and the number of the thread
)

// fanOut plays with n threads of rank 1, one after the other.
func fanOut(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (crowdSample, error) {
	c.Driver, c.Hooked = p.Network(), true
	return onPair(ctx, p, c, duo.Order{Kind: kindFan, Iters: iters, Size: size, Count: n}, func(w *duo.World) (crowdSample, error) {
		ns, err := pingMany(w.Gate, fanTag, n, size, max(iters, n), func() {})
		return crowdSample{ns: ns, players: 1}, err
	})
}

// pongMany is rank 1's part.
func pongMany(w *duo.World, o *duo.Order) error {
	return threads(w, o.Count, "receiver", func(k int) error { return pong(w.Gate, fanTag+uint64(k), o.Size) })
}
