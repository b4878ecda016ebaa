package datatype

import (
	"encoding/binary"
	"runtime"
)

// extended says that a long double of C is one of 80 bits, in 16 bytes: a word of 64 bits whose highest one is the one before the point, and behind it sign and exponent. Elsewhere it is one of IEEE 754 with 128 bits already.
const extended = runtime.GOARCH == "amd64"

const (
	whole    = 1 << 63 // the one before the point
	exponent = 0x7fff
	dropped  = 49 // bits of the fraction that the shorter one has not
)

// toQuad turns a long double of 80 bits into one of 128, with the most significant byte first. No value changes.
func toQuad(quad, here []byte) {
	fraction, head := binary.LittleEndian.Uint64(here), binary.LittleEndian.Uint16(here[8:])
	if head&exponent == 0 && fraction&whole != 0 {
		head++ // a number with an exponent of 0 that counts as one of 1
	}
	fraction &^= whole
	binary.BigEndian.PutUint16(quad, head)
	binary.BigEndian.PutUint64(quad[2:], fraction<<1)
	clear(quad[10:])
}

// fromQuad is toQuad the other way. What is between two numbers becomes the nearer one, or of two as near the even one.
func fromQuad(here, quad []byte) {
	head := binary.BigEndian.Uint16(quad)
	high, low := binary.BigEndian.Uint64(quad[2:]), uint64(binary.BigEndian.Uint32(quad[10:]))<<16|uint64(binary.BigEndian.Uint16(quad[14:]))
	// 112 bits of fraction: 64 are in high and 48 in low, of which the shorter one has 63.
	fraction, rest := high>>1, high&1<<(dropped-1)|low
	half := uint64(1) << (dropped - 1)
	switch number := head&exponent != exponent; {
	case number && (rest > half || rest == half && fraction&1 != 0):
		if fraction++; fraction == whole {
			fraction, head = 0, head+1 // to an infinite one, if there is no larger one
		}
	case !number && fraction == 0 && rest != 0:
		fraction = 1 << 62 // no number stays none
	}
	if head&exponent != 0 {
		fraction |= whole
	}
	binary.LittleEndian.PutUint64(here, fraction)
	binary.LittleEndian.PutUint16(here[8:], head)
	clear(here[10:])
}
