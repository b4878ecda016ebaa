package asm

import (
	"runtime"
	"testing"
	"time"
)

func TestCyclesNeverGoBackwardsOnAThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	first := Cycles()
	last := first
	for i := range 200_000 {
		now := Cycles()
		if now < last {
			t.Fatalf("reading %d: %d after %d", i, now, last)
		}
		last = now
	}
	if last == first {
		t.Fatalf("the counter stands still at %d", first)
	}
}

// The brackets make this independent of interruptions: whatever happens between
// the readings, the converted span must lie between an inner and an outer span
// of the clock, with 2 % of margin for the rate.
func TestCyclesFollowTheMonotonicClock(t *testing.T) {
	for range 3 {
		outer := time.Now()
		from := Cycles()
		inner := time.Now()
		time.Sleep(50 * time.Millisecond)
		least := time.Since(inner)
		span := Cycles() - from
		most := time.Since(outer)
		got := time.Duration(Nanos(span))
		if got < least-least/50 || got > most+most/50 {
			t.Errorf("%d cycles are %v, the clock saw %v to %v", span, got, least, most)
		}
	}
}

func BenchmarkCycles(b *testing.B) {
	var sum int64
	for b.Loop() {
		sum += Cycles()
	}
	_ = sum
}

// The peer of Cycles: the clock of the standard library.
func BenchmarkTimeSince(b *testing.B) {
	start, sum := time.Now(), time.Duration(0)
	for b.Loop() {
		sum += time.Since(start)
	}
	_ = sum
}
