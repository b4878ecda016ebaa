package sched

import (
	"testing"
	"unsafe"
)

// TestDescriptorLayout: what a wake touches of a thread is one cache line, what a VP touches is another, and a co is
// two.
func TestDescriptorLayout(t *testing.T) {
	const line, most = 64, 192
	var d thread
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("laid out for 64 bits")
	}
	if checked {
		t.Skip("locks have a field more that checks their order")
	}
	if n := unsafe.Sizeof(d); n != most {
		t.Errorf("a descriptor has %d bytes; with %d it fills a size class that is aligned to lines", n, most)
	}
	if n := unsafe.Sizeof(co{}); n != 2*line {
		t.Errorf("a co has %d bytes; with %d it fills two lines", n, 2*line)
	}
	if n := unsafe.Offsetof(d.co); n != most-line {
		t.Errorf("what a VP looks at begins at byte %d of a descriptor; at %d it fills the last line", n, most-line)
	}
	if n := unsafe.Offsetof(d.waiter) + unsafe.Offsetof(d.waiter.mu); n > line {
		t.Errorf("a waker touches the first %d bytes of a descriptor, which are more than one line", n)
	}
}
