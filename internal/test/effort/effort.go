package effort

import (
	"flag"
	"testing"
)

var (
	long = flag.Bool("long", false, "do all of what seldom finds anything, not a tenth")
	half = flag.Bool("half", false, "with -long: half of it")
)

// Of returns how much of n to do, at least 1: rounds, threads, bytes, or the time.Duration that a test lasts.
func Of[N ~int | ~int64](n N) N {
	switch {
	case *long && *half:
		n /= 2
	case *long:
	case testing.Short():
		n /= 20
	default:
		n /= 10
	}
	return max(n/Slower, 1)
}

// Choose returns how much to do where Of's shares do not fit: the first value with -short, the second one without flags,
// the third one with -long.
func Choose[T any](short, normal, all T) T {
	switch {
	case *long:
		return all
	case testing.Short():
		return short
	}
	return normal
}

// Long reports whether to test also what takes long and seldom finds anything.
func Long() bool { return *long }
