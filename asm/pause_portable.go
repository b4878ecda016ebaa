//go:build (!amd64 && !arm64) || portable

package asm

// Pause tells the processor that the caller spins. Without an instruction for it this is an empty call. It never yields
// to the Go scheduler: callers may be locked to their OS threads, where that costs a thousand times more.
//
//go:noinline
func Pause() {}
