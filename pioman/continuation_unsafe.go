package pioman

import "unsafe"

// continuationOf returns the continuation that a task is part of.
func continuationOf(t *Task) *Continuation {
	return (*Continuation)(unsafe.Add(unsafe.Pointer(t), -int(unsafe.Offsetof(Continuation{}.task))))
}
