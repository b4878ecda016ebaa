package pattern

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestEveryByte changes one byte, any one, and expects Check to name it.
func TestEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "bytes")
		seed := Seed(rapid.IntRange(0, 30).Draw(t, "row"), rapid.IntRange(0, 9).Draw(t, "pair"),
			rapid.IntRange(0, 1).Draw(t, "direction"), rapid.IntRange(0, 1e6).Draw(t, "iteration"))
		b := New(n, n%Page)
		Fill(b, seed)
		if err := Check(b, seed); err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, n-1).Draw(t, "at")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		err := Check(b, seed)
		if err == nil {
			t.Fatalf("byte %d of %d was changed, and Check did not notice", at, n)
		}
		if got := err.Error(); !strings.HasPrefix(got, "byte "+itoa(at)+" of ") {
			t.Fatalf("byte %d was changed, but: %s", at, got)
		}
	})
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// TestStale: no message passes for the one before, the one of the other
// direction, of the next pair or of the next row, whatever its size.
func TestStale(t *testing.T) {
	for n := 1; n <= 64; n++ {
		for i := range 600 {
			b := New(n, n%Page)
			Fill(b, Seed(3, 1, 0, i))
			if Check(b, Seed(3, 1, 0, i+1)) == nil {
				t.Fatalf("%d B: message %d passes for the next", n, i)
			}
			if Check(b, Seed(3, 1, 1, i)) == nil {
				t.Fatalf("%d B: message %d passes for its answer", n, i)
			}
			if n >= 8 && (Check(b, Seed(4, 1, 0, i)) == nil || Check(b, Seed(3, 2, 0, i)) == nil) {
				t.Fatalf("%d B: message %d passes for one of another row or pair", n, i)
			}
		}
	}
}

// TestShifted: words in the wrong place are found.
func TestShifted(t *testing.T) {
	seed := Seed(0, 0, 0, 7)
	b := New(4096, 0)
	Fill(b, seed)
	copy(b[64:128], b[:64])
	if Check(b, seed) == nil {
		t.Error("64 bytes in the wrong place passed")
	}
}

func TestGuard(t *testing.T) {
	for _, n := range []int{1, 7, 8, 4096} {
		b := New(n, n%Page)
		if len(b) != n || cap(b) != n {
			t.Errorf("New(%d) has length %d and capacity %d", n, len(b), cap(b))
		}
		if err := CheckGuard(b); err != nil {
			t.Error(err)
		}
		Fill(b, 1)
		if err := CheckGuard(b); err != nil {
			t.Errorf("Fill wrote behind the buffer: %v", err)
		}
		spill(b)
		if CheckGuard(b) == nil {
			t.Errorf("a write right behind %d bytes was not noticed", n)
		}
	}
}

func BenchmarkFillCheck(b *testing.B) {
	buf := New(1<<20, 0)
	b.SetBytes(1 << 20)
	for i := range b.N {
		Fill(buf, uint64(i))
		if err := Check(buf, uint64(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOffset: a buffer begins where in a page it is asked to.
func TestOffset(t *testing.T) {
	for _, at := range []int{0, 1, 16, 4095} {
		for _, n := range []int{1, 4096, 100000} {
			if got := address(New(n, at)) % Page; got != at {
				t.Errorf("%d bytes at %d begin at %d", n, at, got)
			}
		}
	}
}
