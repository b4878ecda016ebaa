package waiters

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/pioman"
)

// receiver is a task that waits for messages of one byte.
type receiver struct {
	task  pioman.Task
	watch pioman.Descriptor
	fd    [2]int
	err   error
}

// Run has n tasks of an engine wait for messages for a time, while so many threads compute as
// run is to be called for at once (it runs a function as one), and
// returns what the engine then says about itself, with the tasks still waiting. It ends early, with
// the context's error, if ctx does.
func Run(ctx context.Context, threads int, run func(func()), e *pioman.Engine, n int, limit time.Duration) (x pioman.Explanation, err error) {
	all := make([]receiver, n)
	defer func() {
		for i := range all {
			err = errors.Join(err, all[i].close())
		}
	}()
	for i := range all {
		if err := all[i].open(e); err != nil {
			return x, err
		}
	}
	if n > 0 {
		e.Need() // receives are pending
		defer e.Done()
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var work sync.WaitGroup
	for range threads {
		work.Go(func() { run(func() { compute(ctx) }) })
	}
	send(ctx, all)
	work.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return x, err
	}
	return e.Explain(), nil
}

func (r *receiver) open(e *pioman.Engine) (err error) {
	r.fd = [2]int{-1, -1}
	if r.fd, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return fmt.Errorf("make a pair of sockets: %w", err)
	}
	if err := r.watch.Open(e, r.fd[0]); err != nil {
		return err
	}
	r.task.Init("receive", func(*pioman.Task) pioman.Status {
		var b [64]byte
		switch n, err := unix.Read(r.fd[0], b[:]); {
		case n > 0 || err == unix.EINTR:
			return pioman.Moved
		case err == unix.EAGAIN:
			return pioman.Again
		default:
			r.err = fmt.Errorf("read: %w", err)
			return pioman.Done
		}
	}, pioman.Repeat)
	if err := r.task.On(&r.watch, pioman.Readable); err != nil {
		return err
	}
	return e.Submit(&r.task)
}

func (r *receiver) close() error {
	if r.task.State() == pioman.StateUnset && r.fd == [2]int{} {
		return nil // never opened
	}
	err := r.task.Cancel()
	r.watch.Close()
	for _, fd := range r.fd {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	return errors.Join(err, r.err)
}

// compute computes and sleeps by turns.
func compute(ctx context.Context) {
	for ctx.Err() == nil {
		for until := time.Now().Add(3 * time.Millisecond); time.Now().Before(until); {
		}
		marcel.Sleep(5 * time.Millisecond)
	}
}

// send sends bursts of four messages, 200 us apart, every 6 ms.
func send(ctx context.Context, all []receiver) {
	for i := 0; ctx.Err() == nil; i++ {
		pause := 200 * time.Microsecond
		if i%4 == 3 {
			pause = 6 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			if len(all) > 0 {
				_, _ = unix.Write(all[i%len(all)].fd[1], []byte{1}) // full: it has enough to read
			}
		}
	}
}
