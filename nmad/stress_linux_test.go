package nmad_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// mixed is one process of a job in which many callers exchange messages of all
// sizes with all other ranks, pause now and then so that all of them fall asleep, and
// look at each byte.
func mixed(threads, messages int) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	var failed atomic.Pointer[error]
	var waits []func()
	for peer := range s.Size() {
		for thread := range threads {
			waits = append(waits, callers.Go(func() {
				if err := chat(s, peer, uint64(thread), messages); err != nil {
					failed.CompareAndSwap(nil, &err)
				}
			}))
		}
	}
	for _, wait := range waits {
		wait()
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	return s.Close()
}

// chat exchanges messages with one thread of one rank. Both sides draw the same
// random numbers, so each knows what the other sends.
func chat(s *nmad.Session, peer int, tag uint64, messages int) error {
	g := s.Gate(peer)
	low, high := uint64(min(peer, s.Rank())), uint64(max(peer, s.Rank()))
	rng := rand.New(rand.NewPCG(low<<32|high, tag))
	var send, recv nmad.Request
	for i := range messages {
		n := 0
		switch rng.IntN(8) {
		case 0, 1, 2:
			n = rng.IntN(100)
		case 3, 4:
			n = rng.IntN(20 << 10)
		case 5:
			n = rng.IntN(200 << 10)
		case 6:
			if rng.IntN(4) == 0 {
				n = rng.IntN(3 << 20)
			}
		}
		early := rng.IntN(2) == 0
		nap := time.Duration(rng.IntN(4)) * 500 * time.Microsecond
		if rng.IntN(10) > 0 {
			nap = 0
		}
		if int(tag)%2 == s.Rank()%2 && nap > 0 { // only one of the two
			marcel.Sleep(nap)
		}
		out, buf := text(n, s.Rank(), tag, i), make([]byte, n)
		if early {
			if err := g.IrecvInto(&recv, tag, buf); err != nil {
				return err
			}
		}
		if err := g.IsendInto(&send, tag, out); err != nil {
			return err
		}
		if !early {
			if err := g.IrecvInto(&recv, tag, buf); err != nil {
				return err
			}
		}
		if err := errors.Join(recv.Wait(), send.Wait()); err != nil {
			return fmt.Errorf("rank %d with %d, tag %d, message %d of %d bytes: %w", s.Rank(), peer, tag, i, n, err)
		}
		if recv.Len() != n || !bytes.Equal(buf, text(n, peer, tag, i)) {
			return fmt.Errorf("rank %d from %d, tag %d: message %d of %d bytes is damaged", s.Rank(), peer, tag, i, n)
		}
	}
	return nil
}

// text is what a rank sends: different in each place and message. No other one has it yet,
// so the race detector need not look.
//
//go:norace
func text(n, rank int, tag uint64, i int) []byte {
	b := make([]byte, n)
	x := uint64(rank)<<48 ^ tag<<24 ^ uint64(i)<<4 ^ 0x9E3779B97F4A7C15
	for j := range b {
		if j%8 == 0 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		b[j] = byte(x >> (j % 8 * 8))
	}
	return b
}

// TestStress runs mixed in three processes.
func TestStress(t *testing.T) {
	threads, messages := 8, effort.Of(100)
	if testing.Short() {
		threads = 4
	}
	for _, d := range []string{"shm", "tcp", "tcp,shm,tcp"} {
		for _, engine := range waysOver(d, effort.Long()) {
			t.Run(d+"/"+engine, func(t *testing.T) {
				j, err := launch.Start(launch.Spec{
					N: 3, Driver: d, Env: []string{fmt.Sprintf("%s=%s mixed %d %d", modeVariable, engine, threads, messages)},
				})
				if err != nil {
					t.Fatal(err)
				}
				watch := time.AfterFunc(3*time.Minute, func() { j.Signal(syscall.SIGQUIT) }) // shows where each thread is
				defer watch.Stop()
				if err := j.Wait(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
