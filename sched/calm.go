//go:build !chaos

package sched

// What the build tag chaos changes, in its everyday form: see chaos.go.

// firstRing is the first size of a ring.
const firstRing = 64

// reckless: thieves steal as chance has it.
const reckless = false
