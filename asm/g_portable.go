//go:build (!amd64 && !arm64) || portable

package asm

// G identifies the goroutine that calls: twice its number, even as an address is. About a
// microsecond. Never 0, never given to another goroutine (on 32-bit systems: not within 2 billion).
func G() uintptr { return uintptr(tracedGoID()) << 1 }
