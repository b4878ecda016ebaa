//go:build amd64 && !portable && !race

package asm

import (
	"unsafe"

	cpuidlib "github.com/klauspost/cpuid/v2"
)

// stringFrom is the length in bytes from which on Copy uses the string instruction: shorter copies lose more by its
// start-up than they gain. It is finite on the processor families on which a measurement between two cores showed a
// gain (docs/decisions/large-messages-over-shm.md): AMD's Zen 5. On Zen 4 the builtin is as fast or faster at every
// length; other families were not measured.
var stringFrom = leastString(cpuidlib.CPU.VendorID, cpuidlib.CPU.Family)

const measuredString = 3 << 10

// leastString returns stringFrom for a processor family.
func leastString(vendor cpuidlib.Vendor, family int) int {
	if vendor == cpuidlib.AMD && family == 0x1a {
		return measuredString
	}
	return int(^uint(0) >> 1)
}

// Copy copies as the builtin does, and returns how many bytes, into memory that another core has just read: a ring that
// two processes share. On some processors it uses the string instruction from a few KiB on, which takes lines that it
// overwrites completely away from the other core without fetching what they hold. What another core has just written is
// copied out of a ring by the builtin. to and from must not overlap.
//
// Its stores may become visible in any order; every store after it, in the order of the program, becomes visible later
// than all of them, so a mark that is stored next publishes what was copied. The calling goroutine cannot be preempted
// meanwhile: cut what is longer than some 100 KiB, which take a few microseconds.
func Copy(to, from []byte) int {
	if len(from) < stringFrom {
		return copy(to, from)
	}
	return copyLong(to, from)
}

// copyLong is Copy of at least stringFrom bytes, so that Copy is inlined.
func copyLong(to, from []byte) int {
	n := min(len(to), len(from))
	if n < stringFrom || JustAhead(address(to), address(from)) {
		return copy(to, from)
	}
	copyString(&to[0], &from[0], n)
	return n
}

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

//go:noescape
func copyString(to, from *byte, n int)
