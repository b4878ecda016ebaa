package marcel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestFor: each i once, from a thread and from a goroutine, whatever the grain; also inside another one.
func TestFor(t *testing.T) {
	check := func() {
		for _, n := range []int{0, 1, 7, 1000} {
			for _, grain := range []int{-1, 1, 3, 5000} {
				seen := make([]atomic.Int32, n)
				For(n, grain, func(i int) { seen[i].Add(1) })
				for i := range seen {
					if got := seen[i].Load(); got != 1 {
						t.Errorf("%d by %d: %d is called %d times", n, grain, i, got)
					}
				}
			}
		}
	}
	check()
	Run(check)
	var sum atomic.Int64
	For(10, 1, func(i int) { For(10, 2, func(j int) { sum.Add(int64(i * j)) }) })
	if got := sum.Load(); got != 45*45 {
		t.Errorf("one inside another: %d, want %d", got, 45*45)
	}
}

// TestCompute: a value comes back, also to several; and of a thread that panics the error.
func TestCompute(t *testing.T) {
	v := Compute(func() string { return "value" })
	for range 2 {
		if got, err := v.Join(); got != "value" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, ended, err := v.TryJoin(); got != "value" || !ended || err != nil {
		t.Errorf("again: %q, %v, %v", got, ended, err)
	}
	var stop Semaphore
	long := Compute(func() int { stop.Acquire(); return 1 })
	if _, ended, _ := long.JoinTimeout(time.Millisecond); ended {
		t.Error("a thread that waits has ended")
	}
	if _, ended, _ := long.TryJoin(); ended {
		t.Error("a thread that waits has ended")
	}
	stop.Release()
	if got, ended, err := long.JoinContext(t.Context()); got != 1 || !ended || err != nil {
		t.Errorf("at its end: %d, %v, %v", got, ended, err)
	}
	bad := ComputeWith(Attr{Catch: true, Name: "bad"}, func() int { panic("as it should") })
	var p *PanicError
	if got, err := bad.Join(); got != 0 || !errors.As(err, &p) {
		t.Errorf("of a thread that panics: %d, %v", got, err)
	}
	_ = bad.Thread()
}

// TestWeighted: no more units are taken than there are; a waiter for many is served in its turn; one that gives up takes
// none, and lets those behind it go.
func TestWeighted(t *testing.T) {
	w := NewWeightedSemaphore(10)
	var taken, most atomic.Int64
	For(200, 1, func(i int) {
		units := int64(i % 11)
		w.Acquire(units)
		if now := taken.Add(units); now > most.Load() {
			most.Store(now)
		}
		if i%7 == 0 {
			Yield()
		}
		taken.Add(-units)
		w.Release(units)
	})
	if most.Load() > 10 || !w.TryAcquire(10) {
		t.Fatalf("%d units were taken at once", most.Load())
	}
	if w.TryAcquire(1) {
		t.Fatal("more than there are")
	}
	soon, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if w.AcquireTimeout(1, time.Millisecond) {
		t.Fatal("more than there are, after a while")
	}
	many := Compute(func() error { return w.AcquireContext(soon, 5) })
	w.Release(3)
	few := Compute(func() bool { w.Acquire(3); return true })
	if err, _ := many.Join(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a waiter that gives up: %v", err)
	}
	if ok, _ := few.Join(); !ok {
		t.Error("the one behind it does not go on")
	}
	w.Release(10)
	for _, wrong := range []func(){func() { w.Acquire(11) }, func() { w.Release(1) }, func() { w.Acquire(-1) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for what cannot be")
				}
			}()
			wrong()
		}()
	}
}
