package asm

import (
	"sync/atomic"
	"testing"
)

// A prefetch is a hint: it changes nothing, and an address that is not there does no harm.
func TestPrefetchWrite(t *testing.T) {
	var words [16]atomic.Uint64
	for i := range words {
		words[i].Store(uint64(i) + 1)
		PrefetchWrite(&words[i])
	}
	PrefetchWrite(nil)
	for i := range words {
		if v := words[i].Load(); v != uint64(i)+1 {
			t.Errorf("word %d is %d after a prefetch", i, v)
		}
	}
}

func BenchmarkPrefetchWrite(b *testing.B) {
	var word atomic.Uint64
	for b.Loop() {
		PrefetchWrite(&word)
	}
}
