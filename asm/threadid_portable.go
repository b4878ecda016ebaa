//go:build linux && ((!amd64 && !arm64) || portable)

package asm

// ThreadID identifies the OS thread that the caller runs on: the kernel's thread
// id, by a system call (100 to 200 ns). Different from that of every other
// living thread, never 0.
func ThreadID() uintptr { return gettid() }
