package pioman

import "unsafe"

// taskAt takes the beginning of page, which outlives it, for a blank task.
func taskAt(page []byte) *Task { return (*Task)(unsafe.Pointer(&page[0])) }

// completionAt does so for a completion.
func completionAt(page []byte) *Completion { return (*Completion)(unsafe.Pointer(&page[0])) }
