package limit

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestAfter: the function is called when the time is over, once, and not after Stop.
func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		calls := 0
		l := After(10*time.Second, func() {
			calls++
			if d := time.Since(began); d != 10*time.Second {
				t.Errorf("called after %v", d)
			}
		})
		stopped := After(10*time.Second, func() { t.Error("called after Stop") })
		time.Sleep(10*time.Second - 1)
		stopped.Stop()
		time.Sleep(time.Hour)
		l.Stop()
		l.Stop()
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}

// TestContext: a context ends when the time is over, with the cause of a deadline, or with the one it is made from.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, stop := Context(t.Context(), 10*time.Second)
		defer stop()
		<-ctx.Done()
		if err, d := context.Cause(ctx), time.Since(began); !errors.Is(err, context.DeadlineExceeded) || d != 10*time.Second {
			t.Errorf("%v after %v", err, d)
		}
		early, cancel := context.WithCancelCause(t.Context())
		ctx, stop = Context(early, 10*time.Second)
		why := errors.New("enough")
		cancel(why)
		<-ctx.Done()
		stop()
		if err := context.Cause(ctx); err != why {
			t.Errorf("cause %v", err)
		}
	})
}

// TestStopWaits: when Stop returns the function is not being called any more.
func TestStopWaits(t *testing.T) {
	for range 200 {
		called := false
		l := After(time.Microsecond, func() { called = true })
		time.Sleep(10 * time.Microsecond)
		l.Stop()
		called = !called // the race detector looks at this
	}
}

// TestBound: a read that is under way ends, with the error of a deadline.
func TestBound(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	defer Bound(a, time.Millisecond).Stop()
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
}
