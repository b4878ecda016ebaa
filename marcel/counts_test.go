package marcel_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// mostCounted is how far latches and wait groups count.
const mostCounted = 1<<62 - 1

// What counts says so at its limit, and changes nothing; up to there it counts right.
func TestCountsAtTheirLimits(t *testing.T) {
	limit := fmt.Sprint(mostCounted)
	onThreadAndOff(t, func(t *testing.T) {
		s := marcel.NewSemaphore(math.MaxInt)
		panics(t, fmt.Sprint(math.MaxInt), s.Release)
		if !s.TryAcquire() {
			t.Error("a full semaphore has no unit")
		}
		s.Release()
		panics(t, fmt.Sprint(math.MaxInt), s.Release)
		if !s.AcquireTimeout(time.Microsecond) {
			t.Error("a full semaphore has no unit")
		}
		if s = marcel.NewSemaphore(math.MinInt); s.TryAcquire() {
			t.Error("a unit of a semaphore that lacks many")
		}
		if s.Release(); s.TryAcquire() {
			t.Error("a unit of a semaphore that lacks many")
		}

		for _, n := range []int{mostCounted + 1, math.MaxInt, -1, math.MinInt} {
			panics(t, limit, func() { marcel.NewLatch(n) })
		}
		l := marcel.NewLatch(mostCounted)
		l.CountDown()
		if l.TryWait() || l.Count() != mostCounted-1 || l.WaitTimeout(time.Microsecond) {
			t.Errorf("open with %d left", l.Count())
		}

		var g marcel.WaitGroup
		for _, n := range []int{mostCounted + 1, math.MaxInt} {
			panics(t, limit, func() { g.Add(n) })
		}
		panics(t, "negative", func() { g.Add(math.MinInt) })
		if !g.TryWait() {
			t.Error("an Add that panicked has counted")
		}
		g.Add(mostCounted)
		for _, n := range []int{1, mostCounted, math.MaxInt} {
			panics(t, limit, func() { g.Add(n) })
		}
		if g.TryWait() || g.WaitTimeout(time.Microsecond) { // marks that there are waiters
			t.Error("nothing is left")
		}
		panics(t, limit, func() { g.Add(1) })
		panics(t, "negative", func() { g.Add(math.MinInt) })
		if g.Add(-mostCounted); !g.TryWait() {
			t.Error("something is left")
		}

		if b := marcel.NewBarrier(math.MaxInt); b.TryWait() || b.WaitTimeout(time.Microsecond) {
			t.Error("a barrier of many lets one pass")
		}
		if n := marcel.NewMailbox[struct{}](math.MaxInt).Cap(); n != math.MaxInt {
			t.Errorf("%d messages of no bytes", n)
		}
		for _, n := range []int{1<<45 + 1, 1 << 62, math.MaxInt} {
			panics(t, "35184372088832 can be", func() { marcel.NewMailbox[int](n) })
		}
		for _, n := range []int{math.MaxInt, math.MinInt} {
			var g marcel.Group
			g.SetLimit(n)
			g.Go(func() error { return nil })
			if err := g.Wait(); err != nil {
				t.Error(err)
			}
		}
		for _, n := range []int{-1, 1 << 20, math.MaxInt, math.MinInt} {
			panics(t, "0 to", func() { marcel.OneVP(n) })
		}
		var q marcel.Futex
		if n := q.Wake(math.MinInt); n != 0 {
			t.Errorf("woke %d of none", n)
		}
	})
}
