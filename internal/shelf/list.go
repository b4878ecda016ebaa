package shelf

// List is a queue whose elements are linked through a Node within each, so it allocates nothing. The zero value is
// empty. Its owner guards it, with the nodes that stand in it.
type List[T any] struct{ first, last *Node[T] }

// Node is the part of an element that stands in one List at a time.
type Node[T any] struct {
	next, prev *Node[T]
	of         *T
}

// element returns the element of which n is a part; nil if n is nil.
func (n *Node[T]) element() *T {
	if n == nil {
		return nil
	}
	return n.of
}

// Next returns the element behind that of n; nil: there is none, or n is in no list.
func (n *Node[T]) Next() *T { return n.next.element() }

// Prev returns the element before that of n; nil: there is none, or n is in no list.
func (n *Node[T]) Prev() *T { return n.prev.element() }

// Empty reports whether l has no element.
func (l *List[T]) Empty() bool { return l.first == nil }

// First returns the oldest element; nil: there is none.
func (l *List[T]) First() *T { return l.first.element() }

// Last returns the youngest element; nil: there is none.
func (l *List[T]) Last() *T { return l.last.element() }

// Pop takes out the oldest element; nil: there is none.
func (l *List[T]) Pop() *T {
	x := l.First()
	if x != nil {
		l.Remove(l.first)
	}
	return x
}

// Push adds x, whose node is n and in no list, at the end.
func (l *List[T]) Push(n *Node[T], x *T) {
	n.of, n.prev, n.next = x, l.last, nil
	if l.last == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
}

// Remove takes out the element whose node is n, which is in l.
func (l *List[T]) Remove(n *Node[T]) {
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.next, n.prev = nil, nil
}
