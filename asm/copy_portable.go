//go:build !amd64 || portable || race

package asm

// Copy is the builtin copy where there is no better instruction, and for the race detector, which cannot see what
// assembly does. to and from must not overlap.
func Copy(to, from []byte) int { return copy(to, from) }
