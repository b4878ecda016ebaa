package asm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// A release store writes the word of the atomic value and nothing beside it.
func TestStoreRelease(t *testing.T) {
	var x [3]atomic.Uint32
	var y [3]atomic.Uintptr
	var z [3]atomic.Uint64
	for _, v := range []uint32{1, 0, 1<<32 - 1} {
		StoreRelease32(&x[1], v)
		StoreReleasePtr(&y[1], ^uintptr(v))
		StoreRelease64(&z[1], ^uint64(v))
		if x[1].Load() != v || y[1].Load() != ^uintptr(v) || z[1].Load() != ^uint64(v) {
			t.Errorf("stored %x: %x, %x and %x", v, x[1].Load(), y[1].Load(), z[1].Load())
		}
	}
	if x[0].Load()|x[2].Load() != 0 || y[0].Load()|y[2].Load() != 0 || z[0].Load()|z[2].Load() != 0 {
		t.Error("a neighbor was written")
	}
}

// What was written before a release store is seen by a thread that sees that store.
func TestStoreReleasePublishes(t *testing.T) {
	var turn atomic.Uint32
	data := 0
	const n = 20000
	play := func(first uint32) { // takes every other turn
		for i := first; i < n; i += 2 {
			for turn.Load() != i {
				runtime.Gosched()
			}
			if data != int(i) {
				t.Errorf("turn %d: data of %d", i, data)
			}
			data++
			StoreRelease32(&turn, i+1)
		}
	}
	var other sync.WaitGroup
	other.Go(func() { play(1) })
	play(0)
	other.Wait()
}
