package ep

import (
	"slices"
	"testing"
)

// TestClassS: all batches, in an order of their own, give the published sums.
func TestClassS(t *testing.T) {
	n := Batches(ClassS)
	of := make([]Sums, n)
	for k := n - 1; k >= 0; k-- {
		of[k] = Batch(k)
	}
	var all Sums
	for _, s := range of {
		all.Add(s)
	}
	if err := VerifyS(all); err != nil {
		t.Error(err)
	}
	// As the benchmark prints them.
	if want := []int{6140517, 5865300, 1100361, 68546, 1648, 17, 0, 0, 0, 0}; !slices.Equal(all.Counts[:], want) || all.Pairs() != 13176389 {
		t.Errorf("%v, %d pairs", all.Counts, all.Pairs())
	}
	all.X += 1e-3
	if VerifyS(all) == nil {
		t.Error("wrong sums pass")
	}
}

// TestBatches: batch k begins where the sequence of one generator would be.
func TestBatches(t *testing.T) {
	x := uint64(seed)
	for range 3 << (batchBits + 1) {
		x = x * multiplier & modulus
	}
	if got := seed * power(multiplier, 2*3<<batchBits) & modulus; got != x {
		t.Errorf("batch 3 begins at %d, want %d", got, x)
	}
	if Batches(ClassS) != 256 {
		t.Errorf("%d batches", Batches(ClassS))
	}
}

func BenchmarkBatch(b *testing.B) {
	for b.Loop() {
		Batch(7)
	}
}
