//go:build (!amd64 && !arm64) || portable

package asm

import "time"

var processStart = time.Now()

// Cycles returns the monotonic clock in nanoseconds since the process started: the twin of the cycle counter, with a
// rate of 1 GHz.
func Cycles() int64 { return int64(time.Since(processStart)) }

// announcedHz returns the rate of Cycles in Hz, which here counts nanoseconds.
func announcedHz() (hz int64, exact bool) { return 1e9, true }
