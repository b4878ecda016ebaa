// Package exercise has threads do all that concerns the Go runtime, and checks what they compute: they switch, block in
// Go and in the kernel, compute without any call, call closures, grow their stacks, fork and join, under a collector
// that runs all the time.
package exercise
