package datatype

import (
	"encoding/binary"
	"runtime"
)

// extended says that C's long double has 80 bits, in 16 bytes: a significand of 64 bits, whose highest bit is the
// integer bit, and then exponent and sign. On other machines it is the quad of IEEE 754, with 128 bits.
const extended = runtime.GOARCH == "amd64"

const (
	integerBit = 1 << 63 // of a significand of 64 bits
	exponent   = 0x7fff  // the bits of the exponent, beside the sign
	dropped    = 49      // how many bits fewer the fraction has that a significand of 64 bits has
)

// toQuad converts a long double of 80 bits to a quad, with the most significant byte first. No value changes.
func toQuad(quad, here []byte) {
	fraction, head := binary.LittleEndian.Uint64(here), binary.LittleEndian.Uint16(here[8:])
	if head&exponent == 0 && fraction&integerBit != 0 {
		head++ // an exponent of 0 with the integer bit is that of 1
	}
	fraction &^= integerBit
	binary.BigEndian.PutUint16(quad, head)
	binary.BigEndian.PutUint64(quad[2:], fraction<<1)
	clear(quad[10:])
}

// fromQuad converts a quad to a long double of 80 bits, rounded to the nearest one, and to even if two are equally
// near.
func fromQuad(here, quad []byte) {
	head := binary.BigEndian.Uint16(quad)
	high, low := binary.BigEndian.Uint64(quad[2:]), uint64(binary.BigEndian.Uint32(quad[10:]))<<16|uint64(binary.BigEndian.Uint16(quad[14:]))
	// The fraction of a quad has 112 bits: 64 in high and 48 in low. A long double has the upper 63 of these.
	fraction, rest := high>>1, high&1<<(dropped-1)|low
	half := uint64(1) << (dropped - 1)
	switch number := head&exponent != exponent; {
	case number && (rest > half || rest == half && fraction&1 != 0):
		if fraction++; fraction == integerBit {
			fraction, head = 0, head+1 // beyond the largest number this is infinity
		}
	case !number && fraction == 0 && rest != 0:
		fraction = 1 << 62 // NaN stays NaN
	}
	if head&exponent != 0 {
		fraction |= integerBit
	}
	binary.LittleEndian.PutUint64(here, fraction)
	binary.LittleEndian.PutUint16(here[8:], head)
	clear(here[10:])
}
