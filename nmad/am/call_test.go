package am

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

func (j *testJob) serve(name string, f Func) {
	j.t.Helper()
	for _, w := range j.worlds {
		if err := w.Serve(name, f); err != nil {
			j.t.Fatal(err)
		}
	}
}

// TestCall: results, errors and arguments of all lengths come back, from goroutines and threads, many at once.
func TestCall(t *testing.T) {
	overAll(t, Config{Window: 4}, func(t *testing.T, j *testJob, other int) {
		j.serve("echo", func(_ context.Context, from int, args []byte) ([]byte, error) {
			if from != 0 || !marcel.OnThread() {
				return nil, fmt.Errorf("from %d, on a thread: %v", from, marcel.OnThread())
			}
			marcel.Yield()
			return args, nil
		})
		w := j.worlds[0]
		call := func(i int) {
			args := pattern([]int{0, 10, 1000, 60 << 10, 64<<10 - 4, 64<<10 - 3, 300 << 10}[i%7], uint64(i))
			got, err := w.Call(t.Context(), other, "echo", args)
			if err != nil || !bytes.Equal(got, args) {
				t.Errorf("%d bytes: %v, or damaged", len(args), err)
			}
		}
		for i := range 14 {
			call(i)
		}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() { call(i) })
			th := marcel.Spawn(func() { call(i + 1) })
			all.Go(func() { _ = th.Join() })
		}
		all.Wait()
	})
}

// TestCallErrors: each way in which a call fails has an error that says so.
func TestCallErrors(t *testing.T) {
	overAll(t, Config{Calls: 1, Longest: 100 << 10}, func(t *testing.T, j *testJob, other int) {
		w := j.worlds[0]
		ended := make(chan error, 10)
		j.serve("error", func(context.Context, int, []byte) ([]byte, error) { return nil, errors.New("no luck") })
		j.serve("panic", func(context.Context, int, []byte) ([]byte, error) { panic("oh") })
		j.serve("exit", func(context.Context, int, []byte) ([]byte, error) { runtime.Goexit(); return nil, nil })
		j.serve("long", func(context.Context, int, []byte) ([]byte, error) { return make([]byte, 100<<10+1), nil })
		running := make(chan struct{}, 1)
		j.serve("wait", func(ctx context.Context, _ int, _ []byte) ([]byte, error) {
			running <- struct{}{}
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, ctx.Err()
		})
		for name, want := range map[string]string{
			"error": "no luck", "panic": ErrPanicked.Error() + ": oh", "exit": ErrPanicked.Error(), "unknown": ErrUnknown.Error(), "long": "a result of 102401 bytes",
		} {
			_, err := w.Call(t.Context(), other, name, nil)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("call %q at rank %d", name, other)) {
				t.Errorf("%s: %v", name, err)
			}
			var remote *RemoteError
			if got := errors.As(err, &remote); got != (name == "error" || name == "long") || errors.Is(err, ErrPanicked) != (name == "panic" || name == "exit") || errors.Is(err, ErrUnknown) != (name == "unknown") {
				t.Errorf("%s: %v is not what it says", name, err)
			}
		}
		if _, err := w.Call(t.Context(), other, "unknown", make([]byte, 90<<10)); !errors.Is(err, ErrUnknown) {
			t.Error("with a long argument: ", err)
		}
		if _, err := w.Call(t.Context(), other, "error", make([]byte, 100<<10+1)); !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
		if _, err := w.Call(t.Context(), 9, "error", nil); !errors.Is(err, nmad.ErrRank) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := w.Call(ctx, other, "wait", nil)
			done <- err
		}()
		<-running
		if _, err := w.Call(t.Context(), other, "error", nil); !errors.Is(err, ErrBusy) {
			t.Error("beside the one that may run: ", err)
		}
		why := errors.New("enough")
		cancel(why)
		if err := <-done; !errors.Is(err, why) {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error("the context of the function ends with ", err)
		}
		if _, err := w.Call(ctx, other, "error", nil); !errors.Is(err, why) {
			t.Error(err)
		}
		go func() {
			_, err := w.Call(t.Context(), other, "wait", nil)
			done <- err
		}()
		until(t, func() bool { // the last one has gone
			select {
			case <-running:
				return true
			case err := <-done:
				if !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
				go func() {
					_, err := w.Call(t.Context(), other, "wait", nil)
					done <- err
				}()
			default:
			}
			return false
		})
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Error("the world was closed: ", err)
		}
		if other != 0 { // of the target only the end of the session is heard
			return
		}
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// TestCallerLost: the context of a function ends when its caller leaves.
func TestCallerLost(t *testing.T) {
	j := newJob(t, 2, networks(t)["shm"], Config{}, true)
	defer j.close()
	ended, running := make(chan error, 1), make(chan struct{})
	j.serve("wait", func(ctx context.Context, _ int, _ []byte) ([]byte, error) {
		close(running)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, nil
	})
	done := make(chan error)
	go func() {
		_, err := j.worlds[0].Call(t.Context(), 1, "wait", nil)
		done <- err
	}()
	<-running
	if err := errors.Join(j.worlds[0].Close(), j.sessions[0].Close()); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	select {
	case err := <-ended:
		var lost *nmad.PeerError
		if !errors.As(err, &lost) || lost.Rank != 0 {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the context of the function does not end")
	}
}

// TestCloseTwice: a world that was closed says so, and its session opens another one.
func TestCloseTwice(t *testing.T) {
	j := newJob(t, 1, nil, Config{}, false)
	defer j.close()
	w := j.worlds[0]
	var n atomic.Int64
	j.handle(1, func(*Token, []uint64, []byte) { n.Add(1) })
	if err := errors.Join(w.Default().Request(0, 1, nil, nil), w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := w.Default().Request(0, 1, nil, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := w.Domain(DomainConfig{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	again, err := Open(j.sessions[0], Config{})
	if err != nil {
		t.Fatal(err)
	}
	j.worlds[0] = again
	j.handle(1, func(*Token, []uint64, []byte) { n.Add(10) })
	if err := again.Default().Request(0, 1, nil, nil); err != nil || n.Load() != 11 {
		t.Error(err, n.Load())
	}
}
