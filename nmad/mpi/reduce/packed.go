package reduce

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

// Kernels for short integers compute with eight bytes at a time, in a word, since Go's compiler does not vectorize
// loops.

// The highest bits of the bytes, and of the 16-bit numbers, in a word.
const (
	high8  = 0x8080808080808080
	high16 = 0x8000800080008000
)

// packed returns a kernel for elements of size bytes: words computes with those that fill words, rest with the others.
func packed(size int, words func(a, b, out []uint64), rest reduceKernel) reduceKernel {
	return func(a, b, out datatype.Address, n int) {
		k := n * size / 8
		if k > 0 {
			words(datatype.Slice[uint64](a, k), datatype.Slice[uint64](b, k), datatype.Slice[uint64](out, k))
		}
		if done := 8 * k; done < n*size {
			rest(datatype.Add(a, done), datatype.Add(b, done), datatype.Add(out, done), n-done/size)
		}
	}
}

// sums8 adds the bytes of words. It adds them without their highest bits, so that none carries into the next byte, and
// adds the highest bits by exclusive or. sums16 adds numbers of two bytes in the same way.
func sums8(a, b, out []uint64) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		y := b[i]
		out[i] = (x&^high8 + y&^high8) ^ (x^y)&high8
	}
}

func sums16(a, b, out []uint64) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		y := b[i]
		out[i] = (x&^high16 + y&^high16) ^ (x^y)&high16
	}
}

// packedRows replaces the kernels that these functions make faster.
func packedRows(m *[1 << 8]*kernelRow) {
	for _, k := range []datatype.Kind{datatype.Int8, datatype.Uint8, datatype.Byte, datatype.Int16, datatype.Uint16} {
		r, size := m[k], k.Size()
		for op, words := range map[predefinedOp]func(a, b, out []uint64){ands: band[uint64], ors: bor[uint64], xors: bxor[uint64]} {
			r[op] = packed(size, words, r[op])
		}
		switch {
		case r[sums] == nil:
		case size == 1:
			r[sums] = packed(size, sums8, r[sums])
		default:
			r[sums] = packed(size, sums16, r[sums])
		}
	}
}
