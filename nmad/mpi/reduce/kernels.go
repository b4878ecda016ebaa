package reduce

import "github.com/pm2-go/pm2/nmad/mpi/datatype"

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type ordered interface{ integer | float32 | float64 }

type number interface {
	ordered | complex64 | complex128
}

func of[T any](f func(in, inout []T)) kernel {
	return func(in, inout datatype.Address, n int) { f(datatype.Slice[T](in, n), datatype.Slice[T](inout, n)) }
}

func sum[T number](in, inout []T) {
	inout = inout[:len(in)]
	for i, x := range in {
		inout[i] = x + inout[i]
	}
}

func prod[T number](in, inout []T) {
	inout = inout[:len(in)]
	for i, x := range in {
		inout[i] = x * inout[i]
	}
}

func least[T ordered](in, inout []T) {
	inout = inout[:len(in)]
	for i, x := range in {
		inout[i] = min(x, inout[i])
	}
}

func greatest[T ordered](in, inout []T) {
	inout = inout[:len(in)]
	for i, x := range in {
		inout[i] = max(x, inout[i])
	}
}

func band[T integer](in, inout []T) {
	inout = inout[:len(in)]
	for i, x := range in {
		inout[i] &= x
	}
}

func bor[T integer](in, inout []T) {
	inout = inout[:len(in)]
	for i, x := range in {
		inout[i] |= x
	}
}

func bxor[T integer](in, inout []T) {
	inout = inout[:len(in)]
	for i, x := range in {
		inout[i] ^= x
	}
}

func truth[T integer](b bool) T {
	if b {
		return 1
	}
	return 0
}

func land[T integer](in, inout []T) {
	for i, x := range in {
		inout[i] = truth[T](x != 0 && inout[i] != 0)
	}
}

func lor[T integer](in, inout []T) {
	for i, x := range in {
		inout[i] = truth[T](x != 0 || inout[i] != 0)
	}
}

func lxor[T integer](in, inout []T) {
	for i, x := range in {
		inout[i] = truth[T](x != 0 != (inout[i] != 0))
	}
}

func replace[T any](in, inout []T) { copy(inout, in) }

// located is a value and where it is, as MPI's pairs lie in memory.
type located[T ordered, I int32 | int64] struct {
	value T
	index I
}

func minloc[T ordered, I int32 | int64](in, inout []located[T, I]) {
	for i, x := range in {
		if y := &inout[i]; x.value < y.value || x.value == y.value && x.index < y.index {
			*y = x
		}
	}
}

func maxloc[T ordered, I int32 | int64](in, inout []located[T, I]) {
	for i, x := range in {
		if y := &inout[i]; x.value > y.value || x.value == y.value && x.index < y.index {
			*y = x
		}
	}
}

// row is the kernels of the operations for one kind, or one pair of kinds; nil: the operation is not defined for it.
type row [operations]kernel

func (r *row) any(copies kernel) {
	r[replaces] = copies
	r[leaves] = func(datatype.Address, datatype.Address, int) {}
}

func numbers[T number](r *row) {
	r.any(of(replace[T]))
	r[sums], r[multiplies] = of(sum[T]), of(prod[T])
}

func ordereds[T ordered](r *row) {
	numbers[T](r)
	r[minima], r[maxima] = of(least[T]), of(greatest[T])
}

func integers[T integer](r *row) {
	ordereds[T](r)
	bits[T](r)
	truths[T](r)
}

func bits[T integer](r *row) {
	r[ands], r[ors], r[xors] = of(band[T]), of(bor[T]), of(bxor[T])
}

func truths[T integer](r *row) {
	r[logicalAnds], r[logicalOrs], r[logicalXors] = of(land[T]), of(lor[T]), of(lxor[T])
}

func locations[T ordered, I int32 | int64]() (r row) {
	r[minLocations], r[maxLocations] = of(minloc[T, I]), of(maxloc[T, I])
	return r
}

// kernels has a row for each kind of element.
var kernels = func() map[datatype.Kind]*row {
	m := map[datatype.Kind]*row{}
	at := func(k datatype.Kind) *row {
		m[k] = &row{}
		return m[k]
	}
	for _, k := range []datatype.Kind{datatype.Byte, datatype.Packed, datatype.Bool} {
		at(k).any(of(replace[uint8]))
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
	return m
}()

// pairs has a row for each kind of value with a place.
var pairs = map[pair]row{
	{datatype.Int16, datatype.Int32}:   locations[int16, int32](),
	{datatype.Int32, datatype.Int32}:   locations[int32, int32](),
	{datatype.Int64, datatype.Int32}:   locations[int64, int32](),
	{datatype.Float32, datatype.Int32}: locations[float32, int32](),
	{datatype.Float64, datatype.Int32}: locations[float64, int32](),
	{datatype.Int64, datatype.Int64}:   locations[int64, int64](),
	{datatype.Float64, datatype.Int64}: locations[float64, int64](),
}
