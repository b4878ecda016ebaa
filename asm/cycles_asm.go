//go:build (amd64 || arm64) && !portable

package asm

// Cycles returns the cycle counter of the current processor: ticks at a constant rate, whatever the frequency of the
// core, from an arbitrary origin. Successive readings on one thread never go backwards; those of two processors agree
// as well as the machine makes them. Nanos converts differences.
//
//go:noescape
func Cycles() int64
