package asm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Whatever the lengths and alignments, Copy does what the builtin does, and touches nothing
// beyond it.
func TestCopy(t *testing.T) { copies(t) }

func copies(t *testing.T) {
	const room = 20 << 10
	from, to, want := make([]byte, room), make([]byte, room), make([]byte, room)
	random := rand.New(rand.NewPCG(1, 2))
	lengths := []int{0, 1, 63, 2047, 2048, 3<<10 - 1, 3 << 10, 3<<10 + 1, 4096, 16 << 10}
	for i := range 500 {
		n := random.IntN(room - 200)
		if i < len(lengths) {
			n = lengths[i]
		}
		a, b := random.IntN(128), random.IntN(128)
		more := random.IntN(64) // one of the two is longer
		for j := range from {
			from[j], to[j] = byte(random.Uint32()), byte(j)
		}
		copy(want, to)
		dst, src := to[a:a+n+more], from[b:b+n]
		if i%2 != 0 {
			dst, src = to[a:a+n], from[b:b+n+more]
		}
		copy(want[a:], from[b:b+n])
		if got := Copy(dst, src); got != n {
			t.Fatalf("Copy of %d bytes says %d", n, got)
		}
		if !bytes.Equal(to, want) {
			t.Fatalf("Copy of %d bytes from offset %d to %d differs from copy", n, b, a)
		}
	}
}

func TestCopyAllocates(t *testing.T) {
	from, to := make([]byte, 8<<10), make([]byte, 8<<10)
	if n := testing.AllocsPerRun(100, func() { Copy(to, from) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, n := range []int{256, 1 << 10, 2 << 10, 4 << 10, 16 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			from, to := make([]byte, n), make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				Copy(to, from)
			}
		})
	}
}
