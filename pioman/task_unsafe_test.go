package pioman

import (
	"testing"
	"unsafe"
)

// What goes from core to core with a task fits into one cache line.
func TestTaskIsOneLine(t *testing.T) {
	if at := unsafe.Offsetof(Task{}.name); at > 64 {
		t.Errorf("%d bytes are touched by submitting and polling", at)
	}
}
