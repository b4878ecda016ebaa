package datatype

// Buffer is Count elements of a Type in memory. It implements nmad.Data. Displacements count from the byte that is At
// bytes behind Base. Base lies in the memory of the elements, so that it keeps that memory; the byte At need not lie
// there. The caller sees to it that the memory has all elements.
type Buffer struct {
	Base  Address
	At    int
	Count int
	Type  *Type
}

// Size returns how many bytes of data the Buffer has.
func (b *Buffer) Size() int { return b.Count * b.Type.Size() }

// Dense returns the data of the Buffer, if it lies in memory in its order and without gaps; else false.
func (b *Buffer) Dense() ([]byte, bool) {
	t, size := b.Type, b.Size()
	switch {
	case size == 0:
		return nil, true
	case t.root.dense && (b.Count == 1 || t.root.size == t.Extent()):
		return stretch(b.Base, b.At+t.root.low, size), true
	}
	return nil, false
}

// Pieces calls yield for the data from byte from on, in order, in pieces without gaps, until yield returns false.
func (b *Buffer) Pieces(from int, yield func([]byte) bool) {
	if all, ok := b.Dense(); ok {
		if from < len(all) {
			yield(all[from:])
		}
		return
	}
	Stretches(b.Count, b.Type, from, func(at, size int) bool { return yield(stretch(b.Base, b.At+at, size)) })
}

// Pack copies the data from byte from on to out, and returns how many bytes it has copied.
func (b *Buffer) Pack(from int, out []byte) (n int) {
	if len(out) == 0 {
		return 0
	}
	b.Pieces(from, func(piece []byte) bool {
		n += copy(out[n:], piece)
		return n < len(out)
	})
	return n
}

// Unpack copies in to the data from byte from on, and returns how many bytes it has copied.
func (b *Buffer) Unpack(from int, in []byte) (n int) {
	if len(in) == 0 {
		return 0
	}
	b.Pieces(from, func(piece []byte) bool {
		n += copy(piece, in[n:])
		return n < len(in)
	})
	return n
}

// Copy copies the data of a Buffer to another one, whose elements may lie differently, and returns how many bytes it
// has copied: as many as the shorter one has.
func Copy(to, from *Buffer) (n int) {
	if all, ok := from.Dense(); ok {
		return to.Unpack(0, all)
	}
	if all, ok := to.Dense(); ok {
		return from.Pack(0, all)
	}
	from.Pieces(0, func(piece []byte) bool {
		m := to.Unpack(n, piece)
		n += m
		return m == len(piece)
	})
	return n
}

// Part returns n elements of the Buffer, from element first on.
func (b *Buffer) Part(first, n int) Buffer {
	if n == 0 {
		return Buffer{Type: b.Type}
	}
	return Buffer{b.Base, b.At + first*b.Type.Extent(), n, b.Type}
}

// First returns the address of the first byte of the first element of a Buffer that has data.
func (b *Buffer) First() Address { return Add(b.Base, b.At+b.Type.root.low) }

// Words returns how many words of memory Within needs.
func Words(count int, t *Type) int {
	if count == 0 || t.root == nil {
		return 0
	}
	far := (count - 1) * t.Extent()
	if far < 0 {
		far = -far
	}
	_, extent := t.True()
	return (far + extent + 7) / 8
}

// Within returns a Buffer of count elements of t in memory, which has Words words.
func Within(memory []uint64, count int, t *Type) Buffer {
	if count == 0 || t.root == nil {
		return Buffer{Type: t}
	}
	low, _ := t.True()
	return Buffer{AddressOf(memory), max(0, -(count-1)*t.Extent()) - low, count, t}
}
