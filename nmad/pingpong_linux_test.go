package nmad_test

import (
	"context"
	"errors"
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
		for _, engine := range []string{explicit, hooked} {
			for _, size := range []int{1, 4 << 10, 1 << 20} {
				b.Run(fmt.Sprintf("%s/%s/%d", d, engine, size), func(b *testing.B) {
					measured(b, d, fmt.Sprintf("%s pingpong %d %d", engine, size, b.N), "ns/way")
				})
			}
		}
	}
}

// exchangeRequests is one of two processes that send a message to each other, and wait for both, again and again: with
// requests of their own, into, or made anew. Rank 0 says how long an exchange takes on average, garbage collection
// included, in picoseconds.
func exchangeRequests(how string, size, iters int) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	g, out, in := s.Gate(1-s.Rank()), make([]byte, size), make([]byte, size)
	recv, send := &nmad.Request{}, &nmad.Request{}
	began := time.Now()
	for range iters {
		if how == "into" {
			err = errors.Join(g.IrecvInto(recv, 1, in), g.IsendInto(send, 1, out))
		} else {
			recv, send = g.Irecv(1, in), g.Isend(1, out)
		}
		if err == nil {
			err = nmad.WaitAll(context.Background(), send, recv)
		}
		if err != nil {
			return err
		}
	}
	if s.Rank() == 0 {
		fmt.Println("picoseconds", time.Since(began).Nanoseconds()*1000/int64(iters))
	}
	return s.Close()
}

// BenchmarkRequests measures what it costs to make the requests of each message anew, between two processes.
func BenchmarkRequests(b *testing.B) {
	for _, size := range []int{0, 8, 64 << 10} {
		for _, how := range []string{"into", "anew"} {
			b.Run(fmt.Sprintf("%s/%d", how, size), func(b *testing.B) {
				measured(b, "shm", fmt.Sprintf("%s exchange %s %d %d", hooked, how, size, b.N), "ns/exchange")
			})
		}
	}
}

// measured runs two processes in a mode that says picoseconds.
func measured(b *testing.B, driver, mode, unit string) {
	r := newReports()
	j, err := launch.Start(launch.Spec{N: 2, Driver: driver, Stdout: r.of, Env: []string{modeVariable + "=" + mode}})
	if err != nil {
		b.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		b.Fatal(err)
	}
	_, ps := r.count("picoseconds")
	b.ReportMetric(float64(ps)/1000, unit)
}
