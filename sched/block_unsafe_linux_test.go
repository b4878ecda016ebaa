package sched

import (
	"os"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestBlock: Block returns what the kernel does.
func TestBlock(t *testing.T) {
	if n, errno := Block(unix.SYS_GETPID, 0, 0, 0, 0, 0, 0); int(n) != os.Getpid() || errno != 0 {
		t.Errorf("getpid: %d, %v", n, errno)
	}
	var word atomic.Uint32
	word.Store(1)
	if _, errno := Block(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), 128, 0, 0, 0, 0); errno != unix.EAGAIN {
		t.Errorf("futex: %v, want EAGAIN", errno)
	}
}
