package asm

import (
	"sync"
	"testing"
)

// GoID is the number that the trace shows, on every goroutine, and no goroutine
// gets that of one that has ended, though the runtime uses its descriptor again.
func TestGoID(t *testing.T) {
	seen := map[uint64]bool{}
	descriptors := map[uintptr]bool{}
	for range 2000 {
		var id, traced uint64
		var g uintptr
		var wg sync.WaitGroup
		wg.Go(func() { id, traced, g = GoID(), tracedGoID(), G() })
		wg.Wait()
		if id != traced || id == 0 {
			t.Fatalf("number %d, the trace says %d", id, traced)
		}
		if seen[id] {
			t.Fatalf("two goroutines were number %d", id)
		}
		seen[id], descriptors[g] = true, true
	}
	t.Logf("%d goroutines on %d descriptors", len(seen), len(descriptors))
}

func BenchmarkGoID(b *testing.B) {
	for range b.N {
		_ = GoID()
	}
}
