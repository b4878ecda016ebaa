//go:build amd64 && !portable && !race

package asm

import (
	"fmt"
	"testing"

	cpuidlib "github.com/klauspost/cpuid/v2"
)

// asOn has Copy copy as on a processor whose string instruction gains from so many bytes on.
func asOn(t testing.TB, from int) {
	old := stringFrom
	stringFrom = from
	t.Cleanup(func() { stringFrom = old })
}

// TestCopyByString is TestCopy on every amd64, with the string instruction, and without.
func TestCopyByString(t *testing.T) {
	for _, from := range []int{1, measuredString, leastString(cpuidlib.Intel, 6)} {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			asOn(t, from)
			copies(t)
		})
	}
}

// TestStringFamilies: the string instruction is used on the processors on which it was measured.
func TestStringFamilies(t *testing.T) {
	for _, c := range []struct {
		vendor cpuidlib.Vendor
		family int
		uses   bool
	}{{cpuidlib.AMD, 0x1a, true}, {cpuidlib.AMD, 0x19, false}, {cpuidlib.AMD, 0x17, false}, {cpuidlib.Intel, 6, false}, {cpuidlib.Hygon, 0x1a, false}} {
		if got := leastString(c.vendor, c.family); (got == measuredString) != c.uses {
			t.Errorf("%v, family %#x: from %d bytes on", c.vendor, c.family, got)
		}
	}
}

func BenchmarkCopyByString(b *testing.B) {
	for _, n := range []int{4 << 10, 16 << 10} {
		for _, ahead := range []int{0, 1, 16, 64} {
			b.Run(fmt.Sprintf("%d/ahead=%d", n, ahead), func(b *testing.B) {
				asOn(b, measuredString)
				from, to := make([]byte, n), make([]byte, n+64)[ahead:]
				b.SetBytes(int64(n))
				for b.Loop() {
					Copy(to, from)
				}
			})
		}
	}
}
