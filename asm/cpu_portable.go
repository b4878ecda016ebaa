//go:build linux && (!amd64 || portable)

package asm

// CPU returns the number of the processor that the caller runs on, as the kernel counts them, by a system call (100 to
// 200 ns). Unless the thread is bound it may be outdated at once.
func CPU() int { return getcpu() }
