package ep

import (
	"fmt"
	"math"
)

const (
	multiplier = 1220703125 // 5^13
	seed       = 271828183
	modulus    = 1<<46 - 1 // mask
	unit       = 1.0 / (1 << 46)

	batchBits = 16 // pairs of a batch, as a power of two
)

// Sums are what a run, or a batch of it, came to.
type Sums struct {
	X, Y   float64
	Counts [10]int // of pairs by the larger of the two absolute values
}

// Add adds those of another batch.
func (s *Sums) Add(o Sums) {
	s.X += o.X
	s.Y += o.Y
	for i, n := range o.Counts {
		s.Counts[i] += n
	}
}

// Pairs is how many pairs were accepted.
func (s *Sums) Pairs() int {
	n := 0
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// Batches is how many batches a problem of 2^m pairs has; m is at least 16.
func Batches(m int) int { return 1 << (m - batchBits) }

// power is a^n in the ring of the generator.
func power(a uint64, n int) uint64 {
	r := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r = r * a & modulus
		}
		a = a * a & modulus
	}
	return r
}

// Batch computes batch number k, from 0 on.
func Batch(k int) (s Sums) {
	// Each pair takes two numbers of the sequence.
	x := seed * power(multiplier, 2*k<<batchBits) & modulus
	for range 1 << batchBits {
		x = x * multiplier & modulus
		a := 2*unit*float64(x) - 1
		x = x * multiplier & modulus
		b := 2*unit*float64(x) - 1
		t := a*a + b*b
		if t > 1 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(t) / t)
		a, b = a*f, b*f
		s.X += a
		s.Y += b
		s.Counts[int(math.Max(math.Abs(a), math.Abs(b)))]++
	}
	return s
}

// ClassS has as its sums the published xS and yS.
const (
	ClassS = 24 // 2^24 pairs

	xS, yS    = -3.247834652034740e+3, -6.958407078382297e+3
	tolerance = 1e-8 // relative, as the benchmark demands
)

// VerifyS reports whether these are the published sums of class S.
func VerifyS(s Sums) error {
	if math.Abs((s.X-xS)/xS) > tolerance || math.Abs((s.Y-yS)/yS) > tolerance {
		return fmt.Errorf("EP class S: the sums are %.15e and %.15e, published are %.15e and %.15e", s.X, s.Y, xS, yS)
	}
	return nil
}
