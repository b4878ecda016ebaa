package sched

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestBlock: Block returns what the kernel does, and while it sleeps others have its P, even the
// only one, and the world can be stopped.
func TestBlock(t *testing.T) {
	if n, errno := Block(unix.SYS_GETPID, 0, 0, 0, 0, 0, 0); int(n) != os.Getpid() || errno != 0 {
		t.Errorf("getpid: %d, %v", n, errno)
	}
	var word atomic.Uint32
	word.Store(1)
	if _, errno := Block(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), futexWaitPrivate, 0, 0, 0, 0); errno != unix.EAGAIN {
		t.Errorf("futex: %v, want EAGAIN", errno)
	}
	limit := &unix.Timespec{Nsec: 1}
	if n := testing.AllocsPerRun(100, func() { futexWaitFor(&word, limit) }); n != 0 {
		t.Errorf("a sleep allocates %g times", n)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const sleepers, rounds = 4, 100
	var words [sleepers]atomic.Uint32
	var all sync.WaitGroup
	for i := range words {
		all.Go(func() {
			for range rounds {
				for words[i].Load() == 0 {
					futexWait(&words[i])
				}
				words[i].Store(0)
			}
		})
	}
	for range rounds {
		for i := range words {
			for !words[i].CompareAndSwap(0, 1) {
				runtime.Gosched()
			}
			futexWake(&words[i])
		}
		if runtime.GC(); t.Failed() {
			return
		}
	}
	all.Wait()
}
