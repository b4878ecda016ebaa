package shelf

import (
	"slices"
	"sync/atomic"
)

// Snapshot is a list that any number of threads read without a lock, and that seldom changes: each change publishes
// another slice. The owner has a lock for those that change it. The zero Snapshot is empty.
type Snapshot[T any] struct {
	list atomic.Pointer[[]T] // nil if it is empty
}

// All returns the elements. The caller must not change the slice; later changes do not show in it. Of an empty list
// this costs one load.
func (s *Snapshot[T]) All() []T {
	if list := s.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Add adds x at the end. The caller holds the owner's lock.
func (s *Snapshot[T]) Add(x T) {
	list := append(s.All(), x) // a reader of the old slice does not see x, and Delete makes another array
	s.list.Store(&list)
}

// Delete removes the elements for which del returns true. The caller holds the owner's lock.
func (s *Snapshot[T]) Delete(del func(T) bool) {
	list := slices.DeleteFunc(slices.Clone(s.All()), del)
	if len(list) == 0 {
		s.list.Store(nil)
	} else {
		s.list.Store(&list)
	}
}
