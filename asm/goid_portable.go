//go:build (!amd64 && !arm64) || portable

package asm

// GoID returns the number of the goroutine that calls, as stack traces show it. Unlike G on other systems it is never
// given to another goroutine. A microsecond.
func GoID() uint64 { return tracedGoID() }
