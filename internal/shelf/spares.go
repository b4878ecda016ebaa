package shelf

// Spares keeps objects that are not in use, for an owner that guards it. The object that was put last is taken first,
// since it is the one that is most likely in the cache.
type Spares[T any] struct{ list []*T }

// Get takes an object out, as Put has got it; if there is none it makes one.
func (s *Spares[T]) Get() *T {
	n := len(s.list) - 1
	if n < 0 {
		return new(T)
	}
	x := s.list[n]
	s.list = s.list[:n]
	return x
}

// Put gives x, which nothing uses any more, to a later Get.
func (s *Spares[T]) Put(x *T) { s.list = append(s.list, x) }

// Len returns how many objects there are.
func (s *Spares[T]) Len() int { return len(s.list) }
