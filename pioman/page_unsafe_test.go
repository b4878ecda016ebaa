package pioman

import "unsafe"

// completionAt takes the beginning of page, which outlives it, for a blank completion.
func completionAt(page []byte) *Completion { return (*Completion)(unsafe.Pointer(&page[0])) }
