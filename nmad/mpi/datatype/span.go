package datatype

// Span returns where the data of count elements of t begins, counted as their displacements are, and how many bytes it takes with the gaps inside; false: these are more than Most, or count is below 0.
func Span(count int, t *Type) (low, size int, ok bool) {
	if count < 0 {
		return 0, 0, false
	}
	if count == 0 || t.root == nil {
		return 0, 0, true
	}
	if !fits(count-1, t.Extent()) || !fits(count, t.root.size) {
		return 0, 0, false
	}
	far := (count - 1) * t.Extent()
	low, size = t.root.low+min(0, far), t.root.high-t.root.low+max(far, -far)
	return low, size, size <= Most
}

// Flat says that the data of count elements of t lies without gaps in its order.
func Flat(count int, t *Type) bool {
	return count == 0 || t.root == nil || t.root.dense && (count == 1 || t.root.size == t.Extent())
}

// Stretches calls yield for the data of count elements of t from a byte on, in order, in stretches without gaps: their displacements, and how many bytes they have. It is Buffer.Pieces for memory that is elsewhere.
func Stretches(count int, t *Type, from int, yield func(at, size int) bool) {
	if t.root == nil || from >= count*t.Size() {
		return
	}
	if t.root.dense && t.root.size == t.Extent() {
		yield(t.root.low+from, count*t.Size()-from)
		return
	}
	at, size := 0, 0 // a stretch that may be continued by the next one
	join := func(next, n int) bool {
		if at+size == next {
			size += n
			return true
		}
		was, m := at, size
		at, size = next, n
		return m == 0 || yield(was, m)
	}
	for i, rest := from/t.Size(), from%t.Size(); i < count; i, rest = i+1, 0 {
		if !t.root.walk(i*t.Extent(), rest, join) {
			return
		}
	}
	if size > 0 {
		yield(at, size)
	}
}

// Element is what t has several of: a pair, as a struct has it, or else one basic element; nil: it has parts of several kinds.
func (t *Type) Element() *Type {
	for x := t; ; x = x.made.Types[0] {
		if _, _, ok := x.Pair(); ok && x.made.Combiner == IsStruct {
			return x
		}
		if len(x.made.Types) != 1 {
			break
		}
	}
	if t.uniform != None {
		return Of(t.uniform)
	}
	return nil
}
