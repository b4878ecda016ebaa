package reduce

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/pm2-go/pm2/nmad/mpi/datatype"
)

func typeOf[T any](t *testing.T) *datatype.Type {
	t.Helper()
	x, err := datatype.OfGo(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// apply computes a op b.
func apply[T any](t *testing.T, o *Op, a, b T) (T, error) {
	t.Helper()
	x := typeOf[T](t)
	if err := o.Check(x); err != nil {
		return a, err
	}
	in, inout := []T{b, a, b}, []T{b, b, a} // the second of three
	o.Apply(datatype.Buffer{Base: datatype.AddressOf(in), At: x.Extent(), Count: 1, Type: x}, datatype.Buffer{Base: datatype.AddressOf(inout), At: x.Extent(), Count: 1, Type: x})
	if !reflect.DeepEqual(in, []T{b, a, b}) || !reflect.DeepEqual(inout[0], b) || !reflect.DeepEqual(inout[2], a) {
		t.Errorf("%v of %v: it has changed more than its result", o, x)
	}
	return inout[1], nil
}

// expect tries an operation that is defined.
func expect[T any](t *testing.T, o *Op, a, b, want T) {
	t.Helper()
	if got, err := apply(t, o, a, b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v %v of %T is %v, want %v, %v", a, o, b, a, got, want, err)
	}
}

// refuse tries operations that are not.
func refuse[T any](t *testing.T, all ...*Op) {
	t.Helper()
	for _, o := range all {
		var a T
		if _, err := apply(t, o, a, a); !errors.Is(err, ErrOp) {
			t.Errorf("%v of %T: %v", o, a, err)
		}
	}
}

func ofIntegers[T integer](t *testing.T) {
	t.Helper()
	for range 200 {
		a, b := T(rand.Uint64()), T(rand.Uint64())
		if rand.IntN(4) == 0 {
			a = 0
		}
		expect(t, Sum, a, b, a+b)
		expect(t, Prod, a, b, a*b)
		expect(t, BAnd, a, b, a&b)
		expect(t, BOr, a, b, a|b)
		expect(t, BXor, a, b, a^b)
		expect(t, Replace, a, b, a)
		expect(t, NoOp, a, b, b)
		if a > b {
			a, b = b, a
		}
		expect(t, Min, a, b, a)
		expect(t, Min, b, a, a)
		expect(t, Max, a, b, b)
		expect(t, Max, b, a, b)
	}
	for _, c := range []struct{ a, b, and, or, xor T }{{0, 0, 0, 0, 0}, {0, 5, 0, 1, 1}, {3, 0, 0, 1, 1}, {3, 5, 1, 1, 0}} {
		expect(t, LAnd, c.a, c.b, c.and)
		expect(t, LOr, c.a, c.b, c.or)
		expect(t, LXor, c.a, c.b, c.xor)
	}
	refuse[T](t, MinLoc, MaxLoc)
}

// TestPredefined: each predefined operation, for each kind of element, is computed as Go computes it, or refused.
func TestPredefined(t *testing.T) {
	ofIntegers[int8](t)
	ofIntegers[int16](t)
	ofIntegers[int32](t)
	ofIntegers[int64](t)
	ofIntegers[uint8](t)
	ofIntegers[uint16](t)
	ofIntegers[uint32](t)
	ofIntegers[uint64](t)
	expect(t, Sum, 1.5, 2.25, 3.75)
	expect(t, Prod, float32(1.5), 2, 3)
	expect(t, Min, -1.0, 2, -1)
	expect(t, Max, float32(-1), 2, 2)
	refuse[float64](t, BAnd, BOr, BXor, LAnd, LOr, LXor, MinLoc, MaxLoc)
	expect(t, Sum, 1+2i, 3-1i, 4+1i)
	expect(t, Prod, complex64(1i), 1i, -1)
	refuse[complex128](t, Min, Max, BAnd, LAnd, MinLoc)
	expect(t, LAnd, true, false, false)
	expect(t, LOr, true, false, true)
	expect(t, LXor, true, true, false)
	refuse[bool](t, Sum, Min, BAnd, MaxLoc)
	expect(t, Sum, [3]int32{1, 2, 3}, [3]int32{10, 20, 30}, [3]int32{11, 22, 33})
	type both struct {
		N int32
		X float64
	}
	refuse[both](t, Sum, Max, Replace)
}

// TestLocations: of values with places the smaller index goes with equal values.
func TestLocations(t *testing.T) {
	type real struct {
		V float64
		I int32
	}
	type long struct{ V, I int64 }
	expect(t, MinLoc, real{1, 5}, real{2, 3}, real{1, 5})
	expect(t, MinLoc, real{2, 5}, real{2, 3}, real{2, 3})
	expect(t, MaxLoc, real{1, 5}, real{2, 3}, real{2, 3})
	expect(t, MaxLoc, real{2, 1}, real{2, 3}, real{2, 1})
	expect(t, MinLoc, long{-1, 5}, long{2, 3}, long{-1, 5})
	expect(t, MaxLoc, [2]int32{7, 1}, [2]int32{7, 0}, [2]int32{7, 0})
	type short struct {
		V int16
		I int32
	}
	expect(t, MaxLoc, short{3, 1}, short{-3, 0}, short{3, 1})
	refuse[struct {
		I int32
		V float64
	}](t, MinLoc)
	refuse[struct{ A, B, C int32 }](t, MinLoc)
	refuse[real](t, Sum, Replace)
}

// TestUser: an operation of a user gets what it is for, the left operand first.
func TestUser(t *testing.T) {
	minus := User("minus", false, func(in, inout datatype.Buffer) {
		a, b := datatype.Slice[int32](in.First(), in.Count), datatype.Slice[int32](inout.First(), inout.Count)
		for i := range a {
			b[i] = a[i] - b[i]
		}
	})
	if minus.Commutes() || minus.String() != "minus" || !Sum.Commutes() {
		t.Error("it does not say what it is")
	}
	expect(t, minus, int32(5), 3, 2)
}

func BenchmarkSum(b *testing.B) {
	x, y := make([]float64, 1<<17), make([]float64, 1<<17)
	b.SetBytes(8 << 17)
	for b.Loop() {
		Sum.Apply(datatype.Buffer{Base: datatype.AddressOf(x), Count: len(x), Type: datatype.Of(datatype.Float64)}, datatype.Buffer{Base: datatype.AddressOf(y), Count: len(y), Type: datatype.Of(datatype.Float64)})
	}
}

// many tries an operation on more elements than fill words.
func many[T integer](t *testing.T, o *Op, f func(a, b T) T) {
	t.Helper()
	a, b, want := make([]T, 37), make([]T, 37), make([]T, 37)
	for i := range a {
		a[i], b[i] = T(rand.Uint64()), T(rand.Uint64())
		want[i] = f(a[i], b[i])
	}
	x := typeOf[T](t)
	o.Apply(datatype.Buffer{Base: datatype.AddressOf(a[1:]), Count: 36, Type: x}, datatype.Buffer{Base: datatype.AddressOf(b[1:]), Count: 36, Type: x})
	if want[0] = b[0]; !reflect.DeepEqual(b, want) {
		t.Errorf("%v of many %v is %v, want %v", o, x, b, want)
	}
}

func manyOf[T integer](t *testing.T) {
	many(t, Sum, func(a, b T) T { return a + b })
	many(t, BAnd, func(a, b T) T { return a & b })
	many(t, BOr, func(a, b T) T { return a | b })
	many(t, BXor, func(a, b T) T { return a ^ b })
	many(t, Max, func(a, b T) T { return max(a, b) })
}

// TestPacked: what is computed by words comes out as element by element, wherever it begins.
func TestPacked(t *testing.T) {
	for range 50 {
		manyOf[int8](t)
		manyOf[uint8](t)
		manyOf[int16](t)
		manyOf[uint16](t)
		manyOf[int32](t)
	}
}

// TestOf: a predefined operation for elements that Go lacks is one, and computes by what it was given.
func TestOf(t *testing.T) {
	o := Sum.Of(func(in, inout datatype.Buffer) {
		datatype.Slice[int32](inout.First(), 1)[0] += 10 * datatype.Slice[int32](in.First(), 1)[0]
	})
	if !o.Predefined() || !Sum.Predefined() || User("mine", true, func(_, _ datatype.Buffer) {}).Predefined() || (*Op)(nil).Predefined() || (&Op{}).Predefined() || o.String() != "sum" || !o.Commutes() {
		t.Error("it does not say what it is")
	}
	expect(t, o, int32(2), 3, 23)
}
