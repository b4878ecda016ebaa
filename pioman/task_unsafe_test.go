package pioman

import (
	"testing"
	"unsafe"
)

// What goes from core to core with a task fits into one cache line, with its completion.
func TestTaskIsOneLine(t *testing.T) {
	if n := unsafe.Offsetof(Task{}.name) + unsafe.Sizeof(Completion{}); n > 64 {
		t.Errorf("%d bytes are touched by submitting and polling", n)
	}
}
