package datatype

import "sort"

// walk calls yield for the data of a node at a displacement, from byte from of the data on, in order, in stretches
// without gaps. If yield returns false it stops, and returns false.
func (n *typeNode) walk(at, from int, yield func(at, size int) bool) bool {
	switch {
	case n == nil || from >= n.size:
		return true
	case n.dense:
		return yield(at+n.low+from, n.size-from)
	case n.child != nil:
		for i, rest := from/n.child.size, from%n.child.size; i < n.count; i, rest = i+1, 0 {
			if !n.child.walk(at+i*n.stride, rest, yield) {
				return false
			}
		}
		return true
	}
	i := sort.Search(len(n.parts), func(i int) bool { return n.parts[i].before > from }) - 1
	for rest := from - n.parts[i].before; i < len(n.parts); i, rest = i+1, 0 {
		if p := &n.parts[i]; !p.of.walk(at+p.at, rest, yield) {
			return false
		}
	}
	return true
}

// elements calls yield for the elements of a node, in runs of successive elements of one kind, until yield returns
// false.
func (n *typeNode) elements(at int, yield func(k Kind, at, count int) bool) {
	n.leaves(at, func(l *typeNode, at int) bool { return yield(l.kind, at, l.basics) })
}

// leaves calls yield for the leaves of a node. If yield returns false it stops, and returns false.
func (n *typeNode) leaves(at int, yield func(l *typeNode, at int) bool) bool {
	switch {
	case n == nil:
		return true
	case n.child != nil:
		for i := range n.count {
			if !n.child.leaves(at+i*n.stride, yield) {
				return false
			}
		}
		return true
	case n.parts != nil:
		for i := range n.parts {
			if p := &n.parts[i]; !p.of.leaves(at+p.at, yield) {
				return false
			}
		}
		return true
	}
	return yield(n, at)
}

// Count returns how many basic elements, and how many elements of the Type, a number of bytes of data has. elements is
// -1 if a part of an element remains, and both are -1 if a part of a basic element remains (MPI_Get_elements,
// MPI_Get_count).
func (t *Type) Count(bytes int) (basics, elements int) {
	size := t.Size()
	if size == 0 {
		return 0, 0
	}
	if bytes == size {
		return t.root.basics, 1
	}
	elements = bytes / size
	basics = elements * t.root.basics
	rest := bytes % size
	if rest == 0 {
		return basics, elements
	}
	t.root.elements(0, func(k Kind, _, count int) bool {
		n := min(count, rest/k.Size())
		basics += n
		rest -= n * k.Size()
		return n == count
	})
	if rest > 0 {
		basics = -1
	}
	return basics, -1
}
