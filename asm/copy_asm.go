//go:build amd64 && !portable && !race

package asm

import cpuidlib "github.com/klauspost/cpuid/v2"

// stringFrom is the length from which on the string instruction is used, in bytes; measured
// between two cores, see docs/decisions/large-messages-over-shm.md. Below, its start-up costs
// more than it gains.
var stringFrom = leastString()

const measuredString = 3 << 10

// leastString returns the size from which string instructions copy faster: measuredString if the
// processor announces fast string instructions (ERMS), else no size.
func leastString() int {
	if cpuidlib.CPU.Supports(cpuidlib.ERMS) {
		return measuredString
	}
	return int(^uint(0) >> 1)
}

// Copy copies as the builtin does, and returns how many bytes, for memory that another core
// has just read, or is about to: a ring that two processes share. From a few KiB on it uses
// the processor's string instruction, which takes lines that it overwrites completely away
// from the other core without fetching what they hold. to and from must not overlap.
//
// Its stores may become visible in any order; every store after it, in the order of the
// program, becomes visible later than all of them, so a mark that is stored next
// publishes what was copied. The calling goroutine cannot be preempted meanwhile: cut what is
// longer than some 100 KiB, which take a few microseconds.
func Copy(to, from []byte) int {
	if len(from) < stringFrom {
		return copy(to, from)
	}
	return copyLong(to, from)
}

func copyLong(to, from []byte) int {
	n := min(len(to), len(from))
	if n < stringFrom {
		return copy(to, from)
	}
	copyString(&to[0], &from[0], n)
	return n
}

//go:noescape
func copyString(to, from *byte, n int)
