package datatype

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrConversion says that a number is too large for the external32 representation, which has fewer bytes for it.
var ErrConversion = errors.New("the element does not fit into external32")

// bigEndian reports whether this machine has the most significant byte of a word first.
var bigEndian = func() bool {
	one := []uint16{1}
	return stretch(AddressOf(one), 0, 1)[0] == 0
}()

// Narrow returns the Type of an integer that has fewer bytes in external32 than in memory, such as C's long on many
// machines.
func Narrow(k Kind, wire int) *Type {
	t := *Of(k)
	t.root = leaf(k, wire, 1)
	return &t
}

// ExternalSize returns how many bytes an element has in the external32 representation.
func (t *Type) ExternalSize() int {
	if t == nil || t.root == nil {
		return 0
	}
	return t.root.wire
}

// ExternalSize returns how many bytes the data has in the external32 representation.
func (b *Buffer) ExternalSize() int { return b.Count * b.Type.ExternalSize() }

// PackExternal copies the data to out in the external32 representation of MPI: words have the most significant byte
// first, long doubles are those of IEEE 754 with 128 bits, and integers of Narrow are shorter. out has room for
// ExternalSize bytes. ErrConversion: an element is too large; all others are in out.
func (b *Buffer) PackExternal(out []byte) error { return b.external(out, true) }

// UnpackExternal copies data from the external32 representation in in, which has ExternalSize bytes. A long double is
// rounded to the precision of the machine.
func (b *Buffer) UnpackExternal(in []byte) { _ = b.external(in, false) }

// external is PackExternal if out is true, else UnpackExternal.
func (b *Buffer) external(wire []byte, out bool) (wrong error) {
	for i := range b.Count {
		b.Type.root.leaves(i*b.Type.Extent(), func(l *typeNode, at int) bool {
			here := stretch(b.Base, b.At+at, l.size)
			there := wire[:l.wire]
			wire = wire[l.wire:]
			switch word := l.kind.word(); {
			case l.wire != l.size:
				if err := l.narrow(there, here, out); wrong == nil {
					wrong = err
				}
			case (l.kind == LongDouble || l.kind == LongComplex) && extended:
				for ; len(here) > 0; here, there = here[word:], there[word:] {
					if out {
						toQuad(there[:word], here[:word])
					} else {
						fromQuad(here[:word], there[:word])
					}
				}
			case out:
				copy(there, here)
				turn(there, word)
			default:
				copy(here, there)
				turn(here, word)
			}
			return true
		})
	}
	return wrong
}

// narrow copies integers that are shorter in external32: from here, in memory, to there, or back. ErrConversion: one
// does not fit.
func (n *typeNode) narrow(there, here []byte, out bool) (wrong error) {
	long, short := n.kind.Size(), n.wire/n.basics
	signed := n.kind == Int16 || n.kind == Int32 || n.kind == Int64
	word := make([]byte, long) // with the most significant byte first
	for i := range n.basics {
		own, far := here[i*long:][:long], there[i*short:][:short]
		if !out {
			copy(word[long-short:], far)
			fill(word[:long-short], signed && far[0]&0x80 != 0)
			copy(own, word)
			turn(own, long)
			continue
		}
		copy(word, own)
		turn(word, long)
		copy(far, word[long-short:])
		for _, x := range word[:long-short] {
			if x != sign(signed && far[0]&0x80 != 0) {
				wrong = fmt.Errorf("%w: element %d is a %v of %d bytes there", ErrConversion, i, n.kind, short)
			}
		}
	}
	return wrong
}

// fill sets all bits of b to one value.
func fill(b []byte, ones bool) {
	for i := range b {
		b[i] = sign(ones)
	}
}

// sign returns the byte that extends a number, which is negative or not.
func sign(negative bool) byte {
	if negative {
		return 0xff
	}
	return 0
}

// turn reverses the bytes of each word of b, unless the machine is bigEndian.
func turn(b []byte, word int) {
	if bigEndian || bits.OnesCount(uint(word)) != 1 || word == 1 {
		return
	}
	for ; len(b) >= word; b = b[word:] {
		slices.Reverse(b[:word])
	}
}
