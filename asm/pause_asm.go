//go:build (amd64 || arm64) && !portable

package asm

// Pause tells the processor that the caller spins: it saves power, leaves the core to its sibling hyper-thread, and
// avoids the memory-order flush on leaving the loop. It takes from a few to about 150 cycles, depending on the
// processor, and gives nothing to the kernel or to the Go scheduler.
//
//go:noescape
func Pause()
