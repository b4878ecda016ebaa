//go:build !portable

package asm

// announcedHz returns the rate of the virtual counter in Hz as the firmware wrote it into CNTFRQ_EL0; some boards write
// nonsense, so it is not exact.
func announcedHz() (hz int64, exact bool) { return counterHz(), false }

//go:noescape
func counterHz() int64
