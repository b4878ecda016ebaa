package datatype

import (
	"math/bits"
	"slices"
)

// bigEndian says that this machine has the most significant byte of a word first.
var bigEndian = func() bool {
	one := []uint16{1}
	return stretch(AddressOf(one), 0, 1)[0] == 0
}()

// PackExternal copies the data to out in the external32 representation of MPI, in which all words have the most significant byte first. out has room for all.
func (b *Buffer) PackExternal(out []byte) { b.external(out, true) }

// UnpackExternal is PackExternal the other way; in has all.
func (b *Buffer) UnpackExternal(in []byte) { b.external(in, false) }

func (b *Buffer) external(wire []byte, out bool) {
	for i := range b.Count {
		b.Type.root.elements(i*b.Type.Extent(), func(k Kind, at, count int) bool {
			n := count * k.Size()
			here := stretch(b.Base, b.At+at, n)
			if out {
				copy(wire[:n], here)
				turn(wire[:n], k.word())
			} else {
				copy(here, wire[:n])
				turn(here, k.word())
			}
			wire = wire[n:]
			return true
		})
	}
}

// turn puts the bytes of words into the other order, unless the machine has them that way.
func turn(b []byte, word int) {
	if bigEndian || bits.OnesCount(uint(word)) != 1 || word == 1 {
		return
	}
	for ; len(b) >= word; b = b[word:] {
		slices.Reverse(b[:word])
	}
}
