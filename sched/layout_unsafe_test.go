package sched

import (
	"testing"
	"unsafe"
)

// TestDescriptorLayout: what a wake touches of a thread is one cache line.
func TestDescriptorLayout(t *testing.T) {
	const line, most = 64, 192
	var d thread
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("laid out for 64 bits")
	}
	if n := unsafe.Sizeof(d); n != most {
		t.Errorf("a descriptor has %d bytes; with %d it fills a size class that is aligned to lines", n, most)
	}
	if n := unsafe.Offsetof(d.w) + unsafe.Offsetof(d.w.mu); n > line {
		t.Errorf("a waker touches the first %d bytes of a descriptor, which are more than one line", n)
	}
}
