package datatype

import (
	"testing"

	"pgregory.net/rapid"
)

// TestWithin: memory for elements of any Type holds all of their bytes.
func TestWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, _ := drawType(t, 2)
		count := rapid.IntRange(0, 4).Draw(t, "count")
		memory := make([]uint64, Words(count, x)+2)
		b := Within(memory[1:len(memory)-1], count, x)
		ones := make([]byte, b.Size())
		for i := range ones {
			ones[i] = 0xff
		}
		if n := b.Unpack(0, ones); n != len(ones) {
			t.Fatalf("%d bytes of %d", n, len(ones))
		}
		if memory[0] != 0 || memory[len(memory)-1] != 0 {
			t.Fatal("elements lie outside of their memory")
		}
	})
}
