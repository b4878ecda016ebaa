package rma

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Word is a type of which atomics are.
type Word interface {
	~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Op is what an atomic does to a word.
type Op uint8

// The atomics. Integers wrap around. Min and Max of floats are those of < : a NaN in the word stays, and one that
// comes changes nothing. And, Or and Xor are for integers.
const (
	Add  Op = iota // word + v
	Sub            // word - v
	Min            // the smaller one
	Max            // the larger one
	And            // word & v
	Or             // word | v
	Xor            // word ^ v
	Swap           // v
	opCompareAndSwap
	opLoad
	opStore
	ops
)

// String returns the name.
func (op Op) String() string {
	if op < ops {
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

// takes says whether there is the operation for words of that kind.
func (k wordKind) takes(o Op) bool {
	return o < ops && (k < kindFloat32 || o != And && o != Or && o != Xor)
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

// bitsOf is a word as it lies in memory, and wordOf the way back.
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

// aligned says whether a word of n bytes may lie there.
func (rg *region) aligned(offset, n uint64) bool { return (uint64(uintptr(rg.base))+offset)%n == 0 }

// word64 is the word at an offset that was looked at.
func (rg *region) word64(offset uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(rg.base, offset))
}

// apply does an atomic that kind takes on a word that is inside and aligned, by the processor's instructions, and
// returns what was there before. other is what the word must be for opCompareAndSwap.
func (rg *region) apply(k wordKind, o Op, offset, v, other uint64) (old uint64) {
	at := unsafe.Add(rg.base, offset)
	if k.bytes() == 4 {
		old = uint64(apply((*uint32)(at), k, o, uint32(v), uint32(other)))
	} else {
		old = apply((*uint64)(at), k, o, v, other)
	}
	runtime.KeepAlive(rg) // and its addresses
	return old
}

// wordBits is a word as the processor's instructions know it: the compiler has the size of each.
type wordBits interface{ uint32 | uint64 }

func add[B wordBits](at *B, v B) B {
	if unsafe.Sizeof(v) == 8 {
		return B(atomic.AddUint64((*uint64)(unsafe.Pointer(at)), uint64(v)))
	}
	return B(atomic.AddUint32((*uint32)(unsafe.Pointer(at)), uint32(v)))
}

func swap[B wordBits](at *B, v B) B {
	if unsafe.Sizeof(v) == 8 {
		return B(atomic.SwapUint64((*uint64)(unsafe.Pointer(at)), uint64(v)))
	}
	return B(atomic.SwapUint32((*uint32)(unsafe.Pointer(at)), uint32(v)))
}

func load[B wordBits](at *B) (v B) {
	if unsafe.Sizeof(v) == 8 {
		return B(atomic.LoadUint64((*uint64)(unsafe.Pointer(at))))
	}
	return B(atomic.LoadUint32((*uint32)(unsafe.Pointer(at))))
}

func compareAndSwap[B wordBits](at *B, old, next B) bool {
	if unsafe.Sizeof(old) == 8 {
		return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(at)), uint64(old), uint64(next))
	}
	return atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(at)), uint32(old), uint32(next))
}

func apply[B wordBits](at *B, k wordKind, o Op, v, other B) (old B) {
	if k < kindFloat32 {
		switch o {
		case Add:
			return add(at, v) - v
		case Sub:
			return add(at, -v) + v
		}
	}
	switch o {
	case Swap:
		return swap(at, v)
	case opLoad:
		return load(at)
	case opStore:
		swap(at, v)
		return 0
	case opCompareAndSwap:
		for {
			if compareAndSwap(at, other, v) {
				return other
			}
			if old = load(at); old != other {
				return old
			}
		}
	}
	for {
		old = load(at)
		if compareAndSwap(at, old, combinedBits(k, o, old, v)) {
			return old
		}
	}
}

// applyAll does an atomic that kind takes on each of the words from an offset on, which are inside and aligned.
func (rg *region) applyAll(x *wordArrays, offset uint64) {
	for from := 0; from < len(x.v); from += wordsAtOnce {
		y := x.part(from, min(wordsAtOnce, len(x.v)-from))
		at := unsafe.Add(rg.base, offset+uint64(from))
		if x.kind.bytes() == 4 {
			applyAll[uint32](at, &y)
		} else {
			applyAll[uint64](at, &y)
		}
	}
	runtime.KeepAlive(rg) // and its addresses
}

// wordsAtOnce is how many bytes of words are changed without a point at which the collector can stop the thread.
const wordsAtOnce = 32 << 10

// wordsIn is bytes as words; the first one need not be aligned.
func wordsIn[T Word](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// bytesOf is words as they lie in memory; nil of nil.
func bytesOf[T Word](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// applyAll has loops of their own for sums, which programs have most.
func applyAll[B wordBits](base unsafe.Pointer, x *wordArrays) {
	v := wordsIn[B](x.v)
	at, old := unsafe.Slice((*B)(base), len(v)), wordsIn[B](x.old)
	switch {
	case x.op == Add && x.kind >= kindFloat32:
		for i, y := range v {
			was := load(&at[i])
			for !compareAndSwap(&at[i], was, addFloats(was, y)) {
				was = load(&at[i])
			}
			if len(old) > 0 {
				old[i] = was
			}
		}
	case x.op == Add && len(old) == 0:
		for i, y := range v {
			add(&at[i], y)
		}
	default:
		other := wordsIn[B](x.other)
		for i, y := range v {
			compared := B(0)
			if len(other) > 0 {
				compared = other[i]
			}
			if was := apply(&at[i], x.kind, x.op, y, compared); len(old) > 0 {
				old[i] = was
			}
		}
	}
}

func addFloats[B wordBits](x, y B) B {
	if unsafe.Sizeof(x) == 8 {
		return B(math.Float64bits(math.Float64frombits(uint64(x)) + math.Float64frombits(uint64(y))))
	}
	return B(math.Float32bits(math.Float32frombits(uint32(x)) + math.Float32frombits(uint32(y))))
}

// combinedBits is what an operation makes of a word by v.
func combinedBits[B wordBits](k wordKind, o Op, old, v B) B {
	switch {
	case o == And:
		return old & v
	case o == Or:
		return old | v
	case o == Xor:
		return old ^ v
	case k == kindFloat64:
		return B(math.Float64bits(combine(o, math.Float64frombits(uint64(old)), math.Float64frombits(uint64(v)))))
	case k == kindFloat32:
		return B(math.Float32bits(combine(o, math.Float32frombits(uint32(old)), math.Float32frombits(uint32(v)))))
	case k == kindInt64:
		return B(combine(o, int64(old), int64(v)))
	case k == kindInt32:
		return B(combine(o, int32(old), int32(v)))
	}
	return combine(o, old, v)
}

func combine[T Word](o Op, old, v T) T {
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
