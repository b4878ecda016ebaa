package datatype

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is a Type as MPI's standard has it: a list of elements, each with its displacement.
type model struct {
	kinds  []Kind
	at     []int
	lb, ub int
	forced bool
}

// put adds count elements of x at a displacement, as the standard says: only bounds that were given count, if there are
// any.
func (md *model) put(at, count int, x model) {
	for i := range count {
		here := at + i*(x.ub-x.lb)
		md.kinds = append(md.kinds, x.kinds...)
		for _, d := range x.at {
			md.at = append(md.at, here+d)
		}
		if len(x.kinds) == 0 && !x.forced || md.forced && !x.forced {
			continue
		}
		if first := len(md.kinds) == len(x.kinds) && !md.forced; x.forced && !md.forced || first {
			md.lb, md.ub, md.forced = here+x.lb, here+x.ub, x.forced
			continue
		}
		md.lb, md.ub = min(md.lb, here+x.lb), max(md.ub, here+x.ub)
	}
}

var all = []Kind{Byte, Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64, Complex64, Complex128}

// drawType draws a Type and its model.
func drawType(t *rapid.T, depth int) (*Type, model) {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "basic") == 0 {
		k := rapid.SampledFrom(all).Draw(t, "kind")
		return Of(k), model{kinds: []Kind{k}, at: []int{0}, ub: k.Size()}
	}
	of, m := drawType(t, depth-1)
	ext := m.ub - m.lb
	small := rapid.IntRange(0, 3)
	step := rapid.IntRange(-6, 6)
	var x model
	var got *Type
	var err error
	ints := func(n int, g *rapid.Generator[int], name string) []int {
		return rapid.SliceOfN(g, n, n).Draw(t, name)
	}
	switch rapid.IntRange(0, 7).Draw(t, "constructor") {
	case 0:
		n := small.Draw(t, "count")
		got, err = Contiguous(n, of)
		x.put(0, n, m)
	case 1:
		n, block, stride := small.Draw(t, "count"), small.Draw(t, "block"), step.Draw(t, "stride")
		got, err = Vector(n, block, stride, of)
		for i := range n {
			x.put(i*stride*ext, block, m)
		}
	case 2:
		n, block, stride := small.Draw(t, "count"), small.Draw(t, "block"), step.Draw(t, "stride")
		got, err = Hvector(n, block, stride, of)
		for i := range n {
			x.put(i*stride, block, m)
		}
	case 3:
		n := small.Draw(t, "count")
		blocks, at := ints(n, small, "blocks"), ints(n, step, "displacements")
		got, err = Indexed(blocks, at, of)
		for i := range n {
			x.put(at[i]*ext, blocks[i], m)
		}
	case 4:
		n, block := small.Draw(t, "count"), small.Draw(t, "block")
		at := ints(n, step, "displacements")
		got, err = HindexedBlock(block, at, of)
		for i := range n {
			x.put(at[i], block, m)
		}
	case 5:
		other, m2 := drawType(t, depth-1)
		n := small.Draw(t, "count")
		blocks, at := ints(n, small, "blocks"), ints(n, step, "displacements")
		types, align := make([]*Type, n), 1
		for i := range n {
			if types[i] = of; i%2 == 1 {
				types[i] = other
				x.put(at[i], blocks[i], m2)
			} else {
				x.put(at[i], blocks[i], m)
			}
		}
		got, err = Struct(blocks, at, types)
		for _, k := range x.kinds {
			align = max(align, k.align())
		}
		if !x.forced {
			x.ub += (align - (x.ub-x.lb)%align) % align
		}
	case 6:
		lb, extent := step.Draw(t, "lower"), rapid.IntRange(0, 40).Draw(t, "extent")
		got, err = Resized(of, lb, extent)
		x = m
		x.lb, x.ub, x.forced = lb, lb+extent, true
	case 7:
		dims := rapid.IntRange(1, 3).Draw(t, "dimensions")
		sizes := ints(dims, rapid.IntRange(1, 3), "sizes")
		sub, start := make([]int, dims), make([]int, dims)
		for d := range dims {
			sub[d] = rapid.IntRange(1, sizes[d]).Draw(t, "subsize")
			start[d] = rapid.IntRange(0, sizes[d]-sub[d]).Draw(t, "start")
		}
		order := Order(rapid.Bool().Draw(t, "order"))
		got, err = Subarray(sizes, sub, start, order, of)
		x = subarray(sizes, sub, start, order, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got, x
}

// subarray lists the elements of a part of an array by their indices.
func subarray(sizes, sub, start []int, order Order, m model) (x model) {
	stride, n, whole := make([]int, len(sizes)), 1, m.ub-m.lb
	for i := range sizes {
		d := i
		if order == RowMajor {
			d = len(sizes) - 1 - i
		}
		stride[d] = whole
		whole *= sizes[d]
		n *= sub[d]
	}
	for i := range n {
		at, rest := 0, i
		for j := range sizes {
			d := j
			if order == RowMajor {
				d = len(sizes) - 1 - j
			}
			at += (start[d] + rest%sub[d]) * stride[d]
			rest /= sub[d]
		}
		x.put(at, 1, m)
	}
	x.lb, x.ub, x.forced = 0, whole, true
	return x
}

// TestAgainstModel: size, bounds, kinds and bytes of drawn types are those of lists of elements.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, m := drawType(t, 3)
		size := 0
		low, high := math.MaxInt, math.MinInt
		for i, k := range m.kinds {
			low, high = min(low, m.at[i]), max(high, m.at[i]+k.Size())
			size += k.Size()
		}
		if size > 4096 || size > 0 && (low < -4096 || high > 4096) || m.ub-m.lb > 4096 || m.ub-m.lb < -4096 {
			t.Skip("large")
		}
		if x.Size() != size || x.Elements() != len(m.kinds) || x.Extent() != m.ub-m.lb || size > 0 && x.Lower() != m.lb {
			t.Fatalf("%v: size %d, want %d; %d elements, want %d; from %d to %d, want %d to %d", x, x.Size(), size, x.Elements(), len(m.kinds), x.lb, x.ub, m.lb, m.ub)
		}
		if a, n := x.True(); size > 0 && (a != low || n != high-low) {
			t.Fatalf("data from %d on, %d bytes; want %d, %d", a, n, low, high-low)
		}
		count := rapid.IntRange(0, 3).Draw(t, "count")
		var want []byte
		const middle = 20_000
		memory := make([]byte, 2*middle)
		for i := range memory {
			memory[i] = byte(i*7 + i>>8)
		}
		var displs []int // of the data's bytes
		for i := range count {
			for j, k := range m.kinds {
				for b := range k.Size() {
					displs = append(displs, middle+i*(m.ub-m.lb)+m.at[j]+b)
				}
			}
		}
		for _, p := range displs {
			want = append(want, memory[p])
		}
		b := &Buffer{AddressOf(memory), middle, count, x}
		if b.Size() != len(want) {
			t.Fatalf("a buffer of %d bytes, want %d", b.Size(), len(want))
		}
		from := rapid.IntRange(0, len(want)).Draw(t, "from")
		got := make([]byte, len(want)-from)
		if n := b.Pack(from, got); n != len(got) || !bytes.Equal(got, want[from:]) {
			t.Fatalf("packed %x, want %x", got, want[from:])
		}
		basics, elements := x.Count(from)
		wantBasics, bytes := 0, 0
		for i := range count * len(m.kinds) {
			if n := m.kinds[i%len(m.kinds)].Size(); bytes+n > from {
				if bytes < from {
					wantBasics = -1 // a part of it
				}
				break
			} else {
				bytes += n
			}
			wantBasics++
		}
		if whole := size > 0 && from%size == 0; basics != wantBasics || whole && elements != from/size || !whole && size > 0 && elements != -1 {
			t.Fatalf("%d bytes are %d elements in %d of the datatype, want %d", from, basics, elements, wantBasics)
		}
		if !slices.Equal(slices.Compact(slices.Sorted(slices.Values(displs))), slices.Sorted(slices.Values(displs))) {
			return // elements overlap: nothing can be received there
		}
		fresh := make([]byte, 2*middle)
		to := &Buffer{AddressOf(fresh), middle, count, x}
		if n := to.Unpack(from, want[from:]); n != len(want)-from {
			t.Fatalf("unpacked %d bytes of %d", n, len(want)-from)
		}
		for i, p := range displs[from:] {
			if fresh[p] != want[from+i] {
				t.Fatalf("byte %d came as %x, want %x", from+i, fresh[p], want[from+i])
			}
			fresh[p] = 0
		}
		if slices.IndexFunc(fresh, func(b byte) bool { return b != 0 }) >= 0 {
			t.Fatal("bytes that are none of the data were written")
		}
		dense := &Buffer{AddressOf(make([]byte, len(want)+1)), 0, len(want), Of(Byte)}
		if n := Copy(dense, b); n != len(want) {
			t.Fatalf("copied %d bytes of %d", n, len(want))
		}
		if n := Copy(to, b); n != len(want) {
			t.Fatalf("copied %d bytes of %d", n, len(want))
		}
		again := make([]byte, len(want))
		if to.Pack(0, again); !bytesEqual(again, want) {
			t.Fatalf("copied %x, want %x", again, want)
		}
		wire := make([]byte, len(want))
		b.PackExternal(wire)
		clear(fresh)
		to.UnpackExternal(wire)
		if to.Pack(0, again); !bytesEqual(again, want) {
			t.Fatalf("over external32 %x, want %x", again, want)
		}
	})
}

func bytesEqual(a, b []byte) bool { return bytes.Equal(a, b) }

// TestExternal: the most significant byte of each word goes first.
func TestExternal(t *testing.T) {
	v := []complex128{complex(1.5, -2)}
	wire := make([]byte, 16)
	(&Buffer{AddressOf(v), 0, 1, Of(Complex128)}).PackExternal(wire)
	if a, b := math.Float64frombits(binary.BigEndian.Uint64(wire)), math.Float64frombits(binary.BigEndian.Uint64(wire[8:])); a != 1.5 || b != -2 {
		t.Errorf("%x is %v and %v", wire, a, b)
	}
	w := []uint32{0x01020304, 5}
	(&Buffer{AddressOf(w), 0, 2, Of(Uint32)}).PackExternal(wire[:8])
	if !bytes.Equal(wire[:8], []byte{1, 2, 3, 4, 0, 0, 0, 5}) {
		t.Errorf("%x", wire[:8])
	}
}

// TestDarray: the parts of an array that is dealt out to a grid of processes are all of it, once.
func TestDarray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, 3).Draw(t, "dimensions")
		sizes, procs, blocks, how := make([]int, dims), make([]int, dims), make([]int, dims), make([]Distribution, dims)
		all, elements := 1, 1
		for d := range dims {
			sizes[d] = rapid.IntRange(1, 7).Draw(t, "size")
			how[d] = rapid.SampledFrom([]Distribution{NotDistributed, Block, Cyclic}).Draw(t, "how")
			if procs[d] = 1; how[d] != NotDistributed {
				procs[d] = rapid.IntRange(1, 3).Draw(t, "processes")
			}
			if how[d] == Cyclic {
				blocks[d] = rapid.IntRange(0, 3).Draw(t, "block")
			}
			all *= procs[d]
			elements *= sizes[d]
		}
		order := Order(rapid.Bool().Draw(t, "order"))
		array := make([]int32, elements)
		for i := range array {
			array[i] = int32(i) + 1
		}
		seen := map[int32]bool{}
		for rank := range all {
			x, err := Darray(rank, sizes, how, blocks, procs, order, Of(Int32))
			if err != nil {
				t.Fatal(err)
			}
			if x.Extent() != 4*elements {
				t.Fatalf("extent %d, want %d", x.Extent(), 4*elements)
			}
			mine := make([]int32, x.Size()/4)
			(&Buffer{AddressOf(array), 0, 1, x}).Pack(0, stretch(AddressOf(mine), 0, x.Size()))
			for i, v := range mine {
				if seen[v] || i > 0 && v < mine[i-1] && order == ColumnMajor {
					t.Fatalf("rank %d has element %d in place %d", rank, v, i)
				}
				seen[v] = true
			}
		}
		if len(seen) != elements {
			t.Fatalf("%d elements of %d are dealt out", len(seen), elements)
		}
	})
}

// TestOfGo: what of a Go type travels, and what is refused.
func TestOfGo(t *testing.T) {
	type point struct {
		Tag int8
		_   [3]byte
		At  [2]float64
		On  bool
	}
	x, err := OfGo(reflect.TypeFor[point]())
	if err != nil || x.Size() != 1+16+1 || x.Extent() != int(reflect.TypeFor[point]().Size()) {
		t.Fatalf("%v, %v", x, err)
	}
	from, to := []point{{1, [3]byte{}, [2]float64{2, 3}, true}, {4, [3]byte{}, [2]float64{5, 6}, false}}, make([]point, 2)
	if n := Copy(&Buffer{AddressOf(to), 0, 2, x}, &Buffer{AddressOf(from), 0, 2, x}); n != 36 || !slices.Equal(from, to) {
		t.Errorf("%d bytes: %v", n, to)
	}
	if y, _ := OfGo(reflect.TypeFor[[4][5]int16]()); !y.Dense() || y.Size() != 40 || y.Uniform() != Int16 {
		t.Errorf("%+v", y)
	}
	if y, _ := OfGo(reflect.TypeFor[int]()); y != Of(Int64) && y != Of(Int32) {
		t.Errorf("an int is %v", y)
	}
	for _, bad := range []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]int](), reflect.TypeFor[*int](), reflect.TypeFor[struct{ A struct{ B []byte } }](), reflect.TypeFor[[2]error](), reflect.TypeFor[uintptr]()} {
		if y, err := OfGo(bad); !errors.Is(err, ErrType) {
			t.Errorf("%v: %v, %v", bad, y, err)
		} else {
			t.Log(err)
		}
	}
}

// TestRefused: what cannot be made is an error, whatever the numbers.
func TestRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wild := rapid.OneOf(rapid.IntRange(-3, 3), rapid.SampledFrom([]int{math.MaxInt, math.MinInt, MaxBytes, -MaxBytes, MaxBytes + 1, 1 << 40, -1 << 40}))
		of := Of(Float64)
		for range rapid.IntRange(1, 3).Draw(t, "depth") {
			var err error
			switch a, b, c := wild.Draw(t, "a"), wild.Draw(t, "b"), wild.Draw(t, "c"); rapid.IntRange(0, 6).Draw(t, "constructor") {
			case 0:
				of, err = Contiguous(a, of)
			case 1:
				of, err = Vector(a, b, c, of)
			case 2:
				of, err = Hvector(a, b, c, of)
			case 3:
				of, err = Indexed([]int{a, b}, []int{c, a}, of)
			case 4:
				of, err = Struct([]int{a, b}, []int{c, a}, []*Type{of, Of(Int8)})
			case 5:
				of, err = Resized(of, a, b)
			case 6:
				of, err = Subarray([]int{a, b}, []int{b, c}, []int{c, a}, RowMajor, of)
			}
			if err != nil {
				if !errors.Is(err, ErrType) || of != nil {
					t.Fatalf("%v, %v", of, err)
				}
				return
			}
			low, extent := of.True()
			for _, n := range []int{of.Size(), of.Extent(), low, extent} {
				if n > 2*MaxBytes || n < -2*MaxBytes {
					t.Fatalf("%v reaches %d bytes far", of, n)
				}
			}
		}
	})
}
