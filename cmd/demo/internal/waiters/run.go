package waiters

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
	pio "github.com/pm2-go/pm2/pioman/io"
)

// Run has n goroutines wait at an engine for messages of one byte, each at a socket of its own, for a time, while so
// many threads compute as run is to be called for at once (it runs a function as one), and returns what the engine then
// says about itself, with the goroutines still waiting. It ends early, with the context's error, if ctx does.
func Run(ctx context.Context, threads int, run func(func()), e *pioman.Engine, n int, limit time.Duration) (x pioman.Explanation, err error) {
	r, err := pio.NewReactor(e)
	if err != nil {
		return x, err
	}
	var receivers sync.WaitGroup
	defer func() {
		err = errors.Join(err, r.Close())
		receivers.Wait()
	}()
	peers := make([]*pio.Conn, n)
	for i := range peers {
		var c *pio.Conn
		if c, peers[i], err = r.SocketPair(); err != nil {
			return x, err
		}
		receivers.Go(func() {
			for b := make([]byte, 1); ; {
				if _, err := c.Read(b); err != nil {
					return // closed
				}
			}
		})
	}
	if err := all(ctx, e, n); err != nil {
		return x, err
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var work sync.WaitGroup
	for range threads {
		work.Go(func() { run(func() { compute(timed) }) })
	}
	err = send(timed, peers)
	cancel()
	work.Wait()
	if err == nil {
		err = all(ctx, e, n)
	}
	if err != nil {
		return x, err
	}
	return e.Explain(), nil
}

// all returns once n waits are pending.
func all(ctx context.Context, e *pioman.Engine, n int) error {
	for e.Pending() < n {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Microsecond):
		}
	}
	return nil
}

// compute computes and sleeps by turns.
func compute(ctx context.Context) {
	for ctx.Err() == nil {
		for until := time.Now().Add(3 * time.Millisecond); time.Now().Before(until); {
		}
		marcel.Sleep(5 * time.Millisecond)
	}
}

// send sends bursts of four messages, 200 us apart, every 6 ms, until ctx has timed out.
func send(ctx context.Context, to []*pio.Conn) error {
	for i := 0; ctx.Err() == nil; i++ {
		pause := 200 * time.Microsecond
		if i%4 == 3 {
			pause = 6 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			if len(to) > 0 {
				if _, err := to[i%len(to)].Write([]byte{1}); err != nil {
					return err
				}
			}
		}
	}
	if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
