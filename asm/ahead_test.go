package asm

import "testing"

// TestJustAhead: only the lower 12 bits count, and they go round.
func TestJustAhead(t *testing.T) {
	for _, from := range []uint64{0, 17, 4095, 1 << 40, 1<<64 - 4096} {
		for ahead, want := range map[uint64]bool{0: false, 1: true, 15: true, 16: false, 64: false, 100: false, 4095: false} {
			for _, pages := range []uint64{0, 1, 1 << 20, 1<<52 - 1} {
				if got := JustAhead(from+ahead+4096*pages, from); got != want {
					t.Errorf("%d bytes and %d pages after %#x: %v", ahead, pages, from, got)
				}
			}
		}
	}
}
