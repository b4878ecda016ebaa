//go:build !linux

package asm

// ThreadID returns 0: there is no identity of OS threads for this system here.
func ThreadID() uintptr { return 0 }
