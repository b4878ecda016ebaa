package asm

import (
	"runtime"
	"testing"
)

func TestPauseIsALeafThatAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, Pause); n != 0 {
		t.Fatalf("Pause allocates %v times", n)
	}
}

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		Pause()
	}
}

// The peers of a pause: what spinning without one would call.
func BenchmarkGosched(b *testing.B) {
	for b.Loop() {
		runtime.Gosched()
	}
}
