package lab

import (
	"context"
	"slices"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/marcel"
)

// pairs is E22: N threads of either process, in pairs, all at once.
var pairs = Experiment{
	Name:      "E22",
	Lasts:     16 * time.Second,
	Title:     "1-byte latency of N pairs of threads that play at once",
	Paper:     "D15 fig. 11",
	Published: "linear in N, with a smaller slope than the MPI libraries, thanks to aggregation",
	Iters:     20000,
	Rounds:    5,
	Pair:      true,
	Run: func(ctx context.Context, o Options, s *Sink) error {
		c := crowd{
			name: "N to N, 1 B", mode: "pairs", size: 1, threads: powers(64), peers: append([]setting{openMPITCPYield}, allPeers...), paced: true, players: true,
			ours: []crowdVariant{
				{"ours, shm", duo.Setup{Driver: "shm"}, playPairs},
				{"ours, shm, aggregation", duo.Setup{Driver: "shm", Strategy: "aggregation"}, playPairs},
				{"ours, tcp", duo.Setup{Driver: "tcp"}, playPairs},
				{"ours, tcp, aggregation", duo.Setup{Driver: "tcp", Strategy: "aggregation"}, playPairs},
			},
			axis: "pairs of threads",
			remarks: []string{"all pairs play at once, on one core per process; iterations are divided among them",
				"compared are paced times; ours/peer is of shm; aggregated: share of rank 0's messages that shared a packet, and how many one held"},
		}
		return c.run(ctx, o, s)
	},
}

// playPairs plays with n threads of rank 1, each with one of ours. Time begins when all have warmed up:
// until then rank 1 may still be starting its threads.
func playPairs(ctx context.Context, p *duo.Pair, c duo.Setup, size, n, iters int) (crowdSample, error) {
	c.Hooked = true
	return onPair(ctx, p, c, duo.Order{Kind: kindFan, Iters: iters, Size: size, Count: n}, func(w *duo.World) (crowdSample, error) {
		all, began, warm := make([][]float64, n), make([]int64, n), marcel.NewBarrier(n)
		err := threads(w, n, "player", func(k int) (err error) {
			all[k], err = pingMany(w.Gate, fanTag+uint64(k), 1, size, max(iters/n, 1), func() {
				warm.Wait()
				began[k] = asm.Cycles()
			})
			if began[k] == 0 { // it failed before: the other threads are not to wait for it
				warm.Arrive()
			}
			return err
		})
		x := crowdSample{players: n, elapsed: float64(asm.Nanos(asm.Cycles() - slices.Min(began))), ns: slices.Concat(all...)}
		stats := w.Gate.Stats()
		x.aggregates, x.together, x.messages = float64(stats.Aggregates), float64(stats.Aggregated), float64(stats.Sends)
		return x, err
	})
}
