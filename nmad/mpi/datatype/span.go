package datatype

// Span returns the lowest displacement of the data of count elements of t, and how many bytes the data takes with the
// gaps inside. It reports false if these are more than MaxBytes, or count is negative.
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
	return low, size, size <= MaxBytes
}

// Flat reports whether the data of count elements of t lies in its order and without gaps.
func Flat(count int, t *Type) bool {
	return count == 0 || t.root == nil || t.root.dense && (count == 1 || t.root.size == t.Extent())
}

// Stretches calls yield for the data of count elements of t from byte from on, in order, in stretches without gaps,
// until yield returns false. yield gets the displacement of a stretch, and its length in bytes. It is Buffer.Pieces for
// memory of another process.
func Stretches(count int, t *Type, from int, yield func(at, size int) bool) {
	if t.root == nil || from >= count*t.Size() {
		return
	}
	if t.root.dense && t.root.size == t.Extent() {
		yield(t.root.low+from, count*t.Size()-from)
		return
	}
	at, size := 0, 0 // a stretch that the next one may continue
	join := func(next, n int) bool {
		if at+size == next {
			size += n
			return true
		}
		last, m := at, size
		at, size = next, n
		return m == 0 || yield(last, m)
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

// Element returns the Type of which t has several elements: a pair of a struct, or else a basic element; nil: t has
// elements of several kinds.
func (t *Type) Element() *Type {
	for x := t; ; x = x.made.of[0] {
		if _, _, ok := x.Pair(); ok && x.made.by == byStruct {
			return x
		}
		if len(x.made.of) != 1 {
			break
		}
	}
	if t.uniform != None {
		return Of(t.uniform)
	}
	return nil
}
