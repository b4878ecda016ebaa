package reduce

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type ordered interface{ integer | float32 | float64 }

type number interface {
	ordered | complex64 | complex128
}

// of returns the kernel that a function for slices is.
func of[T any](f func(a, b, out []T)) reduceKernel {
	return func(a, b, out datatype.Address, n int) {
		f(datatype.Slice[T](a, n), datatype.Slice[T](b, n), datatype.Slice[T](out, n))
	}
}

// The functions below compute out[i] = a[i] op b[i] for all elements of a. out may be b.

func sum[T number](a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		out[i] = x + b[i]
	}
}

func prod[T number](a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		out[i] = x * b[i]
	}
}

func least[T ordered](a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		out[i] = min(x, b[i])
	}
}

func greatest[T ordered](a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		out[i] = max(x, b[i])
	}
}

func band[T integer](a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		out[i] = x & b[i]
	}
}

func bor[T integer](a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		out[i] = x | b[i]
	}
}

func bxor[T integer](a, b, out []T) {
	b, out = b[:len(a)], out[:len(a)]
	for i, x := range a {
		out[i] = x ^ b[i]
	}
}

func truth[T integer](b bool) T {
	if b {
		return 1
	}
	return 0
}

func land[T integer](a, b, out []T) {
	for i, x := range a {
		out[i] = truth[T](x != 0 && b[i] != 0)
	}
}

func lor[T integer](a, b, out []T) {
	for i, x := range a {
		out[i] = truth[T](x != 0 || b[i] != 0)
	}
}

func lxor[T integer](a, b, out []T) {
	for i, x := range a {
		out[i] = truth[T](x != 0 != (b[i] != 0))
	}
}

func replace[T any](a, _, out []T) { copy(out, a) }

func leave[T any](_, b, out []T) { copy(out, b) }

// located is a pair of a value and its index, as MPI's pairs lie in memory.
type located[T ordered, I int32 | int64] struct {
	value T
	index I
}

func minloc[T ordered, I int32 | int64](a, b, out []located[T, I]) {
	for i, x := range a {
		y := b[i]
		if x.value < y.value || x.value == y.value && x.index < y.index {
			y = x
		}
		out[i] = y
	}
}

func maxloc[T ordered, I int32 | int64](a, b, out []located[T, I]) {
	for i, x := range a {
		y := b[i]
		if x.value > y.value || x.value == y.value && x.index < y.index {
			y = x
		}
		out[i] = y
	}
}

// kernelRow has the kernels of all operations for one kind, or one pair of kinds; nil: the operation is not defined for
// it. The functions below add kernels to a row.
type kernelRow [operations]reduceKernel

func anything[T any](r *kernelRow) { r[replaces], r[leaves] = of(replace[T]), of(leave[T]) }

func numbers[T number](r *kernelRow) {
	anything[T](r)
	r[sums], r[multiplies] = of(sum[T]), of(prod[T])
}

func ordereds[T ordered](r *kernelRow) {
	numbers[T](r)
	r[minima], r[maxima] = of(least[T]), of(greatest[T])
}

func integers[T integer](r *kernelRow) {
	ordereds[T](r)
	bits[T](r)
	truths[T](r)
}

func bits[T integer](r *kernelRow) {
	r[ands], r[ors], r[xors] = of(band[T]), of(bor[T]), of(bxor[T])
}

func truths[T integer](r *kernelRow) {
	r[logicalAnds], r[logicalOrs], r[logicalXors] = of(land[T]), of(lor[T]), of(lxor[T])
}

func locations[T ordered, I int32 | int64]() (r kernelRow) {
	r[minLocations], r[maxLocations] = of(minloc[T, I]), of(maxloc[T, I])
	return r
}

// kernels has a row for each kind of element.
var kernels = func() (m [1 << 8]*kernelRow) {
	at := func(k datatype.Kind) *kernelRow {
		m[k] = &kernelRow{}
		return m[k]
	}
	for _, k := range []datatype.Kind{datatype.Byte, datatype.Packed, datatype.Bool} {
		anything[uint8](at(k))
	}
	integers[int8](at(datatype.Int8))
	integers[int16](at(datatype.Int16))
	integers[int32](at(datatype.Int32))
	integers[int64](at(datatype.Int64))
	integers[uint8](at(datatype.Uint8))
	integers[uint16](at(datatype.Uint16))
	integers[uint32](at(datatype.Uint32))
	integers[uint64](at(datatype.Uint64))
	ordereds[float32](at(datatype.Float32))
	ordereds[float64](at(datatype.Float64))
	numbers[complex64](at(datatype.Complex64))
	numbers[complex128](at(datatype.Complex128))
	bits[uint8](m[datatype.Byte])
	truths[uint8](m[datatype.Bool]) // in Go and C a true bool is 1
	packedRows(&m)
	return m
}()

// pairs has a row for each kind of pair.
var pairs = map[locatedKinds]kernelRow{
	{datatype.Int16, datatype.Int32}:   locations[int16, int32](),
	{datatype.Int32, datatype.Int32}:   locations[int32, int32](),
	{datatype.Int64, datatype.Int32}:   locations[int64, int32](),
	{datatype.Float32, datatype.Int32}: locations[float32, int32](),
	{datatype.Float64, datatype.Int32}: locations[float64, int32](),
	{datatype.Int64, datatype.Int64}:   locations[int64, int64](),
	{datatype.Float64, datatype.Int64}: locations[float64, int64](),
}
