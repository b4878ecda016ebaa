package asm

import (
	"math"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestScaleClampsAndNeverTurnsNegative(t *testing.T) {
	slow, fast := newRate(minHz), newRate(maxHz)
	for _, c := range []struct {
		name   string
		value  int64
		factor uint64
		want   int64
	}{
		{"zero", 0, fast.nanosPerCycle, 0},
		{"negative", -5, fast.nanosPerCycle, 0},
		{"most negative", math.MinInt64, slow.nanosPerCycle, 0},
		{"slow counter to ns", 3, slow.nanosPerCycle, 3000},
		{"ns to slow counter", 3_000_000, slow.cyclesPerNano, 2999}, // rounded down
		{"ns to fast counter", 3, fast.cyclesPerNano, 300},
		{"overflow", math.MaxInt64, slow.nanosPerCycle, math.MaxInt64},
		{"overflow the other way", math.MaxInt64 / 50, fast.cyclesPerNano, math.MaxInt64},
		{"largest that fits", math.MaxInt64, 1 << 32, math.MaxInt64},
	} {
		if got := scale(c.value, c.factor); got != c.want {
			t.Errorf("%s: scale(%d, %d) = %d, want %d", c.name, c.value, c.factor, got, c.want)
		}
	}
}

func TestConversionIsMonotoneAndReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRate(rapid.Float64Range(minHz, maxHz).Draw(t, "hz"))
		a := rapid.Int64().Draw(t, "a")
		b := rapid.Int64().Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		na, nb := scale(a, r.nanosPerCycle), scale(b, r.nanosPerCycle)
		if na < 0 || na > nb {
			t.Fatalf("%d -> %d but %d -> %d", a, na, b, nb)
		}
		// Up to a day, there and back loses one unit of the coarser side, and
		// what 32 bits of fraction lose.
		ns := rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "ns")
		back := scale(scale(ns, r.cyclesPerNano), r.nanosPerCycle)
		slack := 2 + int64(r.nanosPerCycle>>32) + ns/1_000_000
		if back > ns+slack || back < ns-slack {
			t.Fatalf("%d ns came back as %d", ns, back)
		}
	})
}

func TestCalibrateDropsAWrongAnnouncement(t *testing.T) {
	truth := calibrate(0, false, readCounter())
	if truth < minHz || truth > maxHz {
		t.Fatalf("measured %v Hz", truth)
	}
	for _, c := range []struct {
		name      string
		announced float64
	}{
		{"too fast", truth * 1.2},
		{"too slow", truth * 0.8},
		{"in kHz by mistake", truth / 1000},
		{"absurd", 1e18},
		{"negative", -1},
	} {
		if got := calibrate(c.announced, false, readCounter()); math.Abs(got-truth) > 0.02*truth {
			t.Errorf("%s: %v Hz announced, %v used, %v measured", c.name, c.announced, got, truth)
		}
	}
	if got := calibrate(truth, false, readCounter()); math.Abs(got-truth) > 0.02*truth {
		t.Errorf("a right announcement of %v Hz became %v", truth, got)
	}
	if got := calibrate(123e6, true, readCounter()); got != 123e6 {
		t.Errorf("an exact rate became %v", got)
	}
}

func TestCalibrateStartsAgainWhenTheCounterJumped(t *testing.T) {
	truth := calibrate(0, false, readCounter())
	jumped := readCounter()
	jumped.cycles += 1 << 50 // as if it had been set back since
	if got := calibrate(0, false, jumped); math.Abs(got-truth) > 0.02*truth {
		t.Errorf("%v Hz after a jump, %v before", got, truth)
	}
	old := readCounter()
	old.at = old.at.Add(-2 * readingMaxAge) // the clock went on, the counter did not
	if got := calibrate(0, false, old); math.Abs(got-truth) > 0.02*truth {
		t.Errorf("%v Hz from an old anchor, %v from a new one", got, truth)
	}
}

func TestFirstConversionsAtOnceAgree(t *testing.T) {
	before := settled.Swap(nil)
	defer settled.Store(before)
	var all sync.WaitGroup
	results := make([]int64, 8)
	for i := range results {
		all.Add(1)
		go func() { defer all.Done(); results[i] = Nanos(1 << 40) }()
	}
	all.Wait()
	for i, r := range results {
		if r != results[0] || r <= 0 {
			t.Errorf("caller %d got %d, the first one %d", i, r, results[0])
		}
	}
}

func BenchmarkNanos(b *testing.B) {
	var sum int64
	for b.Loop() {
		sum += Nanos(1 << 30)
	}
	_ = sum
}

func BenchmarkFirstConversion(b *testing.B) {
	for b.Loop() {
		settled.Store(nil)
		Nanos(1)
	}
}
