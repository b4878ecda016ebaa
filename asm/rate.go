package asm

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// rate converts between cycles and nanoseconds in 32.32 fixed point: a relative error below 1e-9 at 1 GHz and more,
// 2e-7 at worst, for a counter of 1 MHz.
type rate struct {
	nanosPerCycle uint64
	cyclesPerNano uint64
}

const (
	minHz         = 1_000_000 // a rate below minHz or above maxHz is that of no cycle counter
	maxHz         = 100_000_000_000
	checkSpan     = 100 * time.Microsecond // shortest comparison of an announced rate with the clock
	measureSpan   = 2 * time.Millisecond   // shortest measurement: two readings of 50 ns in it are 50 ppm
	readingMaxAge = 10 * time.Second       // beyond, the machine may have slept in between
	maxDeviation  = 0.01                   // of an announced rate from the clock
)

var (
	// settled is the rate; nil before the first conversion, which writes it once.
	settled atomic.Pointer[rate]
	// started is the reading from which the first conversion measures.
	started = readCounter()
)

// Nanos converts a number of cycles (a difference of two values of Cycles) to nanoseconds. Negative ones, which two
// processors can produce, give 0; what does not fit gives the largest int64. The first call of the process calibrates,
// which may spin for 2 ms; every other one takes about 2 ns.
func Nanos(cycles int64) int64 {
	r := settled.Load()
	if r == nil {
		r = settle()
	}
	return scale(cycles, r.nanosPerCycle)
}

// ToCycles converts nanoseconds to cycles, with the same limits and costs as Nanos.
func ToCycles(ns int64) int64 {
	r := settled.Load()
	if r == nil {
		r = settle()
	}
	return scale(ns, r.cyclesPerNano)
}

// scale multiplies by a 32.32 factor and clamps to 0 ... MaxInt64.
func scale(v int64, factor uint64) int64 {
	if v <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(v), factor)
	if hi>>31 != 0 {
		return math.MaxInt64
	}
	return int64(hi<<32 | lo>>32)
}

// newRate takes a frequency in Hz between minHz and maxHz.
func newRate(hz float64) *rate {
	const one = 1 << 32
	return &rate{
		nanosPerCycle: uint64(math.Round(1e9 / hz * one)),
		cyclesPerNano: uint64(math.Round(hz / 1e9 * one)),
	}
}

// settle calibrates and publishes the result. Several callers may do it at once, each for itself, without a lock that
// an LWP would have to block on; the first one wins and all of them use its rate.
func settle() *rate {
	hz, exact := announcedHz()
	settled.CompareAndSwap(nil, newRate(calibrate(float64(hz), exact, started)))
	return settled.Load()
}

// calibrate returns the rate in Hz: the announced one if it is exact or agrees with the clock, else a measured one.
func calibrate(announced float64, exact bool, from counterReading) float64 {
	if exact {
		return announced
	}
	if announced >= minHz && announced <= maxHz {
		if hz := measure(from, checkSpan); math.Abs(hz-announced) <= maxDeviation*announced {
			return announced
		}
	}
	if hz := measure(from, measureSpan); hz != 0 {
		return hz
	}
	// The counter jumped while we watched it (suspended, migrated): watch it again from now on.
	if hz := measure(readCounter(), measureSpan); hz != 0 {
		return hz
	}
	return 1e9 // it does not count; conversions stay finite
}

// counterReading is the counter and the monotonic clock at the same moment.
type counterReading struct {
	cycles int64
	at     time.Time
}

func readCounter() counterReading {
	cycles, at := ReadBeside(time.Now)
	return counterReading{cycles, at}
}

// ReadBeside reads the counter and another clock at the same moment: of a few tries it keeps the one that was
// interrupted least. It takes about half a microsecond.
func ReadBeside[T any](clock func() T) (cycles int64, at T) {
	narrowest := int64(math.MaxInt64)
	for try := range 5 {
		before := Cycles()
		read := clock()
		width := Cycles() - before
		if good := width >= 0 && width < narrowest; good || try == 0 {
			cycles, at = before+width/2, read
			if good {
				narrowest = width
			}
		}
	}
	return cycles, at
}

// measure returns the rate of the counter in Hz since from; it spins until span has passed since then.
// It returns 0 if the rate is not between minHz and maxHz.
func measure(from counterReading, span time.Duration) float64 {
	if time.Since(from.at) > readingMaxAge {
		from = readCounter()
	}
	for time.Since(from.at) < span {
		Pause()
	}
	to := readCounter()
	hz := float64(to.cycles-from.cycles) / to.at.Sub(from.at).Seconds()
	if !(hz >= minHz && hz <= maxHz) { // also catches NaN
		return 0
	}
	return hz
}
