package rma

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Word is the type of a word that atomics work on: 4 or 8 bytes.
type Word interface {
	~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// AtomicOp is what an atomic does to a word.
type AtomicOp uint8

// The atomics. Integers wrap around. Min and Max of floats compare by <: a NaN in the word stays, and a NaN as v
// changes nothing. And, Or and Xor are for integers.
const (
	Add  AtomicOp = iota // word + v
	Sub                  // word - v
	Min                  // the smaller one
	Max                  // the larger one
	And                  // word & v
	Or                   // word | v
	Xor                  // word ^ v
	Swap                 // v
	opCompareAndSwap
	opLoad
	opStore
	numOps
)

// String returns the name of the operation.
func (op AtomicOp) String() string {
	if op < numOps {
		return [...]string{"add", "sub", "min", "max", "and", "or", "xor", "swap", "compare and swap", "load", "store"}[op]
	}
	return "no operation"
}

// wordKind is a type of words.
type wordKind uint8

const (
	kindInt32 wordKind = iota
	kindUint32
	kindInt64
	kindUint64
	kindFloat32
	kindFloat64
	kinds
)

// bytes is the size of a word.
func (k wordKind) bytes() uint64 {
	switch k {
	case kindInt32, kindUint32, kindFloat32:
		return 4
	}
	return 8
}

// takes reports whether words of that kind have the operation.
func (k wordKind) takes(o AtomicOp) bool {
	return o < numOps && (k < kindFloat32 || o != And && o != Or && o != Xor)
}

// kindOf is the kind of T.
func kindOf[T Word]() wordKind {
	var zero T
	half := 0.5
	k := wordKind(0)
	switch {
	case T(half) != 0:
		k = kindFloat32
	case zero-1 > 0:
		k = kindUint32
	}
	if unsafe.Sizeof(zero) == 8 {
		switch k {
		case kindInt32:
			return kindInt64
		case kindUint32:
			return kindUint64
		}
		return kindFloat64
	}
	return k
}

// bitsOf returns the bits of a word; wordOf is its inverse.
func bitsOf[T Word](v T) uint64 {
	if unsafe.Sizeof(v) == 8 {
		return *(*uint64)(unsafe.Pointer(&v))
	}
	return uint64(*(*uint32)(unsafe.Pointer(&v)))
}

func wordOf[T Word](bits uint64) (v T) {
	if unsafe.Sizeof(v) == 8 {
		*(*uint64)(unsafe.Pointer(&v)) = bits
	} else {
		*(*uint32)(unsafe.Pointer(&v)) = uint32(bits)
	}
	return v
}

// aligned reports whether the address of that offset is a multiple of n.
func (rg *region) aligned(offset, n uint64) bool { return (uint64(uintptr(rg.base))+offset)%n == 0 }

// word64 is the word at an offset; the caller has checked that it is inside and aligned.
func (rg *region) word64(offset uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(rg.base, offset))
}

// apply applies an operation that k takes to a word, by the processor's atomic instructions, and returns the previous
// value. The caller has checked that the word is inside and aligned. other is the value that opCompareAndSwap compares
// with.
func (rg *region) apply(k wordKind, o AtomicOp, offset, v, other uint64) (old uint64) {
	at := unsafe.Add(rg.base, offset)
	if k.bytes() == 4 {
		old = uint64(apply32((*uint32)(at), k, o, uint32(v), uint32(other)))
	} else {
		old = apply64((*uint64)(at), k, o, v, other)
	}
	runtime.KeepAlive(rg) // it keeps the memory mapped
	return old
}

// apply64 is apply for words of 8 bytes.
func apply64(at *uint64, k wordKind, o AtomicOp, v, other uint64) (old uint64) {
	if k != kindFloat64 {
		switch o {
		case Add:
			return atomic.AddUint64(at, v) - v
		case Sub:
			return atomic.AddUint64(at, -v) + v
		case And:
			return atomic.AndUint64(at, v)
		case Or:
			return atomic.OrUint64(at, v)
		}
	}
	switch o {
	case Swap:
		return atomic.SwapUint64(at, v)
	case opLoad:
		return atomic.LoadUint64(at)
	case opStore:
		atomic.StoreUint64(at, v)
		return 0
	case opCompareAndSwap:
		for {
			if atomic.CompareAndSwapUint64(at, other, v) {
				return other
			}
			if old = atomic.LoadUint64(at); old != other {
				return old
			}
		}
	}
	for {
		old = atomic.LoadUint64(at)
		if next := combine64(k, o, old, v); atomic.CompareAndSwapUint64(at, old, next) {
			return old
		}
	}
}

// apply32 is apply for words of 4 bytes.
func apply32(at *uint32, k wordKind, o AtomicOp, v, other uint32) (old uint32) {
	if k != kindFloat32 {
		switch o {
		case Add:
			return atomic.AddUint32(at, v) - v
		case Sub:
			return atomic.AddUint32(at, -v) + v
		case And:
			return atomic.AndUint32(at, v)
		case Or:
			return atomic.OrUint32(at, v)
		}
	}
	switch o {
	case Swap:
		return atomic.SwapUint32(at, v)
	case opLoad:
		return atomic.LoadUint32(at)
	case opStore:
		atomic.StoreUint32(at, v)
		return 0
	case opCompareAndSwap:
		for {
			if atomic.CompareAndSwapUint32(at, other, v) {
				return other
			}
			if old = atomic.LoadUint32(at); old != other {
				return old
			}
		}
	}
	for {
		old = atomic.LoadUint32(at)
		if next := combine32(k, o, old, v); atomic.CompareAndSwapUint32(at, old, next) {
			return old
		}
	}
}

// applyAll applies an operation to each of a run of words from an offset on. The caller has checked that they are
// inside and aligned, and that their kind takes the operation.
func (rg *region) applyAll(x *wordArrays, offset uint64) {
	for from := 0; from < len(x.operands); from += wordsAtOnce {
		y := x.part(from, min(wordsAtOnce, len(x.operands)-from))
		at := unsafe.Add(rg.base, offset+uint64(from))
		if x.kind.bytes() == 4 {
			applyAll32(at, &y)
		} else {
			applyAll64(at, &y)
		}
	}
	runtime.KeepAlive(rg) // it keeps the memory mapped
}

// wordsAtOnce is how many bytes of words are changed in one loop, in which the garbage collector cannot stop the
// thread.
const wordsAtOnce = 32 << 10

// wordsIn is the bytes as words; they need not be aligned.
func wordsIn[T Word](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// bytesOf is the words as bytes; nil of nil.
func bytesOf[T Word](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// applyAll64 applies x to the words of 8 bytes from base on. Sums, which programs use most, have loops of their own.
func applyAll64(base unsafe.Pointer, x *wordArrays) {
	v := wordsIn[uint64](x.operands)
	at, old := unsafe.Slice((*uint64)(base), len(v)), wordsIn[uint64](x.previous)
	switch {
	case x.op == Add && x.kind == kindFloat64:
		for i, y := range v {
			f := math.Float64frombits(y)
			for {
				was := atomic.LoadUint64(&at[i])
				if atomic.CompareAndSwapUint64(&at[i], was, math.Float64bits(math.Float64frombits(was)+f)) {
					if len(old) > 0 {
						old[i] = was
					}
					break
				}
			}
		}
	case x.op == Add && len(old) == 0:
		for i, y := range v {
			atomic.AddUint64(&at[i], y)
		}
	default:
		other := wordsIn[uint64](x.compared)
		for i, y := range v {
			compared := uint64(0)
			if len(other) > 0 {
				compared = other[i]
			}
			if was := apply64(&at[i], x.kind, x.op, y, compared); len(old) > 0 {
				old[i] = was
			}
		}
	}
}

// applyAll32 is applyAll64 for words of 4 bytes.
func applyAll32(base unsafe.Pointer, x *wordArrays) {
	v := wordsIn[uint32](x.operands)
	at, old := unsafe.Slice((*uint32)(base), len(v)), wordsIn[uint32](x.previous)
	switch {
	case x.op == Add && x.kind == kindFloat32:
		for i, y := range v {
			f := math.Float32frombits(y)
			for {
				was := atomic.LoadUint32(&at[i])
				if atomic.CompareAndSwapUint32(&at[i], was, math.Float32bits(math.Float32frombits(was)+f)) {
					if len(old) > 0 {
						old[i] = was
					}
					break
				}
			}
		}
	case x.op == Add && len(old) == 0:
		for i, y := range v {
			atomic.AddUint32(&at[i], y)
		}
	default:
		other := wordsIn[uint32](x.compared)
		for i, y := range v {
			compared := uint32(0)
			if len(other) > 0 {
				compared = other[i]
			}
			if was := apply32(&at[i], x.kind, x.op, y, compared); len(old) > 0 {
				old[i] = was
			}
		}
	}
}

// combine64 is the result of an operation that the processor has no atomic instruction for.
func combine64(k wordKind, o AtomicOp, old, v uint64) uint64 {
	switch k {
	case kindFloat64:
		return math.Float64bits(combine(o, math.Float64frombits(old), math.Float64frombits(v)))
	case kindInt64:
		if o != Xor {
			return uint64(combine(o, int64(old), int64(v)))
		}
	}
	if o == Xor {
		return old ^ v
	}
	return combine(o, old, v)
}

// combine32 is combine64 for 4 bytes.
func combine32(k wordKind, o AtomicOp, old, v uint32) uint32 {
	switch k {
	case kindFloat32:
		return math.Float32bits(combine(o, math.Float32frombits(old), math.Float32frombits(v)))
	case kindInt32:
		if o != Xor {
			return uint32(combine(o, int32(old), int32(v)))
		}
	}
	if o == Xor {
		return old ^ v
	}
	return combine(o, old, v)
}

// combine is the operation on values of a type.
func combine[T Word](o AtomicOp, old, v T) T {
	switch {
	case o == Add:
		return old + v
	case o == Sub:
		return old - v
	case o == Min && v < old, o == Max && v > old:
		return v
	}
	return old
}
