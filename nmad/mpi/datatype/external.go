package datatype

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrConversion says that an element has no like in the external32 representation, which has fewer bytes for it.
var ErrConversion = errors.New("the element does not fit into external32")

// bigEndian says that this machine has the most significant byte of a word first.
var bigEndian = func() bool {
	one := []uint16{1}
	return stretch(AddressOf(one), 0, 1)[0] == 0
}()

// Narrow returns the Type of an element that is a whole number, and has fewer bytes in external32 than in memory, as C's long on many machines.
func Narrow(k Kind, wire int) *Type {
	t := *Of(k)
	t.root = leaf(k, wire, 1)
	return &t
}

// ExternalSize is how many bytes of data it has in the external32 representation.
func (t *Type) ExternalSize() int {
	if t == nil || t.root == nil {
		return 0
	}
	return t.root.wire
}

// ExternalSize is how many bytes of data it has in the external32 representation.
func (b *Buffer) ExternalSize() int { return b.Count * b.Type.ExternalSize() }

// PackExternal copies the data to out in the external32 representation of MPI, in which all words have the most significant byte first, long doubles are those of IEEE 754 with 128 bits, and what Narrow has made is shorter. out has room for
// ExternalSize bytes. ErrConversion: an element is too large for that; all others are there.
func (b *Buffer) PackExternal(out []byte) error { return b.external(out, true) }

// UnpackExternal is PackExternal the other way; in has all. A long double is rounded to what the machine has.
func (b *Buffer) UnpackExternal(in []byte) { _ = b.external(in, false) }

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

// narrow copies whole numbers that are shorter in external32, and says whether one did not fit.
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

func fill(b []byte, ones bool) {
	for i := range b {
		b[i] = sign(ones)
	}
}

// sign is the bytes above those of a number.
func sign(below bool) byte {
	if below {
		return 0xff
	}
	return 0
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
