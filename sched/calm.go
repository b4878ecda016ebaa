//go:build !chaos

package sched

import "runtime"

// What the build tag chaos changes, in its everyday form: see chaos.go.

// firstRing is the first size of a ring.
const firstRing = 64

// letGo unlocks the calling coroutine from its OS thread before a switch.
func letGo() { runtime.UnlockOSThread() }

// reckless: thieves steal as chance has it.
const reckless = false
