package limit

import (
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
