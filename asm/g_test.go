package asm

import (
	"runtime"
	"sync"
	"testing"
)

func TestGIsStableAndDistinct(t *testing.T) {
	const goroutines = 64
	seen := make([]uintptr, goroutines+1)
	var ready, done sync.WaitGroup
	ready.Add(goroutines)
	for i := range goroutines {
		done.Add(1)
		go func() {
			defer done.Done()
			ready.Done()
			ready.Wait() // all of them live at the same time
			seen[i] = G()
			for range 100 {
				runtime.Gosched() // other threads, the same goroutine
				if now := G(); now != seen[i] {
					t.Errorf("goroutine %d: %#x, then %#x", i, seen[i], now)
					return
				}
			}
			grow(64) // a moved stack, the same goroutine
			if now := G(); now != seen[i] {
				t.Errorf("goroutine %d: %#x, on a larger stack %#x", i, seen[i], now)
			}
		}()
	}
	seen[goroutines] = G()
	done.Wait()
	index := map[uintptr]int{}
	for i, g := range seen {
		if g == 0 || g%2 != 0 {
			t.Errorf("goroutine %d has identity %#x", i, g)
		}
		if j, ok := index[g]; ok {
			t.Errorf("goroutines %d and %d are both %#x", i, j, g)
		}
		index[g] = i
	}
}

func grow(depth int) byte {
	var frame [1024]byte
	if depth > 0 {
		frame[depth] = grow(depth - 1)
	}
	return frame[depth%7]
}

func BenchmarkG(b *testing.B) {
	var sum uintptr
	for b.Loop() {
		sum += G()
	}
	_ = sum
}
