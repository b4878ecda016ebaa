package nmad_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// pingpong is one of two processes that send a message to and fro. Rank 0 says
// how long one way takes: the median of batches, in picoseconds.
func pingpong(size, iters int) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	g := s.Gate(1 - s.Rank())
	buf := make([]byte, size)
	const batch = 100
	var took []time.Duration
	for range max(iters/batch, 3) {
		began := time.Now()
		for range batch {
			if s.Rank() == 0 {
				err = g.Send(1, buf)
			}
			if err == nil {
				_, err = g.Recv(1, buf)
			}
			if err == nil && s.Rank() == 1 {
				err = g.Send(1, buf)
			}
			if err != nil {
				return err
			}
		}
		took = append(took, time.Since(began))
	}
	if s.Rank() == 0 {
		slices.Sort(took)
		fmt.Println("picoseconds", took[len(took)/2].Nanoseconds()*1000/(2*batch))
	}
	return s.Close()
}

// BenchmarkPingPong measures one way between two processes, one core each.
func BenchmarkPingPong(b *testing.B) {
	for _, d := range []string{"shm", "tcp", "unix"} {
		for _, engine := range []string{"explicit", "hooks"} {
			for _, size := range []int{1, 4 << 10, 1 << 20} {
				b.Run(fmt.Sprintf("%s/%s/%d", d, engine, size), func(b *testing.B) {
					r := newReports()
					j, err := launch.Start(launch.Spec{
						N: 2, Driver: d, Stdout: r.of,
						Env: []string{fmt.Sprintf("%s=%s pingpong %d %d", modeVariable, engine, size, b.N)},
					})
					if err != nil {
						b.Fatal(err)
					}
					if err := j.Wait(); err != nil {
						b.Fatal(err)
					}
					_, ps := r.count("picoseconds")
					b.ReportMetric(float64(ps)/1000, "ns/way")
				})
			}
		}
	}
}
