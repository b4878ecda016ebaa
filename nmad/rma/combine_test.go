package rma

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// combined is what an operation leaves of a word.
func combined[T Word](op AtomicOp, was, v T) T {
	switch op {
	case Sub:
		return was - v
	case And:
		return wordOf[T](bitsOf(was) & bitsOf(v))
	case Or:
		return wordOf[T](bitsOf(was) | bitsOf(v))
	case Xor:
		return wordOf[T](bitsOf(was) ^ bitsOf(v))
	case Swap:
		return v
	}
	return combine(op, was, v)
}

// ofWords has each rank change words of its neighbor by every operation, many and few, and looks at what is there,
// and was.
func ofWords[T Word](d *Domain, at Ref, all []AtomicOp) error {
	draw := rand.New(rand.NewPCG(7, 7))
	for _, op := range all {
		for _, n := range []int{1, 3, 2100} {
			v, old, model := make([]T, n), make([]T, n), make([]T, n)
			for i := range v {
				v[i], model[i] = T(draw.IntN(100)), T(draw.IntN(100))
			}
			was := slices.Clone(model)
			if err := errors.Join(d.Put(at, bytesOf(model)), CombineNBI(d, op, at, v, old), d.Flush(at.Rank())); err != nil {
				return fmt.Errorf("%v of %d: %w", op, n, err)
			}
			if !slices.Equal(old, was) {
				return fmt.Errorf("%v of %d: other words were there", op, n)
			}
			for i := range model {
				model[i] = combined(op, combined(op, model[i], v[i]), v[i])
			}
			now := make([]T, n)
			if err := errors.Join(CombineNBI(d, op, at, v, nil), d.Flush(at.Rank()), d.Get(bytesOf(now), at)); err != nil {
				return fmt.Errorf("%v of %d, again: %w", op, n, err)
			}
			if !slices.Equal(now, model) {
				return fmt.Errorf("%v of %d, twice: other words are there", op, n)
			}
			next := make([]T, n)
			was = slices.Clone(now)
			for i := range next {
				if next[i] = now[i] + 1; i%3 == 1 {
					was[i] = now[i] + 5 // not what is there
				}
			}
			if err := errors.Join(CompareAndSwapNBI(d, at, was, next, old), d.Flush(at.Rank())); err != nil {
				return fmt.Errorf("swaps of %d: %w", n, err)
			}
			if !slices.Equal(old, now) {
				return fmt.Errorf("swaps of %d: other words were there", n)
			}
			err := d.Get(bytesOf(next), at)
			for i := range next {
				if want := now[i] + 1; i%3 == 1 && next[i] != now[i] || i%3 != 1 && next[i] != want {
					return fmt.Errorf("swaps of %d: the word %d is %v, and was %v", n, i, next[i], now[i])
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// TestCombine: runs of words are changed as one word is, on every way; what is wrong is said.
func TestCombine(t *testing.T) {
	onEveryWay(t, func(t *testing.T, worlds []*World) {
		s := segments(t, worlds, 1<<16)
		refs := make([]Ref, len(worlds))
		for i, w := range worlds {
			r, err := w.Register(bytesOf(make([]uint64, 1<<13)))
			if err != nil {
				t.Fatal(err)
			}
			refs[i] = r.Ref(0)
		}
		each(t, worlds, func(w *World) error {
			next := (w.Rank() + 1) % w.Size()
			integers, floats := []AtomicOp{Add, Sub, Min, Max, And, Or, Xor, Swap}, []AtomicOp{Add, Sub, Min, Max, Swap}
			d := w.Default()
			for _, at := range []Ref{s[w.Rank()].At(next, 0), refs[next]} {
				if err := errors.Join(ofWords[int32](d, at, integers), ofWords[uint32](d, at, integers), ofWords[int64](d, at, integers), ofWords[uint64](d, at, integers), ofWords[float32](d, at, floats), ofWords[float64](d, at, floats)); err != nil {
					return err
				}
				two := []uint64{1, 2}
				for _, x := range []struct {
					err, want error
				}{
					{errors.Join(CombineNBI(d, Add, at.Add(4), two, nil), d.Flush(next)), ErrAlign},
					{errors.Join(CombineNBI(d, Add, at.Add(1<<16-8), two, nil), d.Flush(next)), ErrRange},
					{CombineNBI(d, And, at, []float64{1}, nil), ErrOp},
					{CombineNBI(d, opLoad, at, two, nil), ErrOp},
					{CombineNBI(d, Add, at, two, two[:1]), ErrSize},
					{CompareAndSwapNBI(d, at, two, two, nil), ErrSize},
					{errors.Join(CombineNBI(d, Add, Ref{key: 1, rank: at.rank, index: at.index}, two, nil), d.Flush(next)), ErrKey},
				} {
					if !errors.Is(x.err, x.want) {
						return fmt.Errorf("it is %w, want %w", x.err, x.want)
					}
				}
			}
			return nil
		})
	})
}
