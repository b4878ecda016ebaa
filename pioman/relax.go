package pioman

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/sched"
)

// relax waits a little, the i-th time, for another thread that will be through soon. From
// inside (a handler, a hook, a latch) only the kernel is asked for patience,
// because such a caller must not switch threads.
func relax(i int, inside bool) {
	switch {
	case i < 16:
		asm.Pause()
	case i >= 1000:
		sleepCPU(50 * time.Microsecond)
	case inside || i%4 != 0:
		yieldCPU()
	default:
		sched.Yield()
	}
}

// yieldCPU lets other OS threads and processes have the CPU.
func yieldCPU() { kernel.Yield() }

// latch is a lock for the few operations that are rare, short, and allowed where one
// must not block, such as adding a source inside a handler.
type latch struct{ w atomic.Uint32 }

func (h *latch) lock() {
	for i := 0; !h.w.CompareAndSwap(0, 1); i++ {
		relax(i, true)
	}
}

func (h *latch) unlock() { h.w.Store(0) }

// slept is how a sleep in the kernel ended.
type slept uint8

const (
	refused     slept = iota // nothing is pending, or there is a sleeper already
	unready                  // there is something to poll for, or the caller was woken before: no sleep
	undisturbed              // the whole time
	disturbed                // something may have happened
	arrived                  // something did, for which it was woken
)

// forever is the timeout of a sleep without end.
const forever = time.Duration(1<<63 - 1)
