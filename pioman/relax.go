package pioman

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/sched"
)

// relax is a pause of a caller that spins for another thread, the i-th pause from 0: an instruction, then a yield, at
// last a sleep of 50 us. inside says that the caller is a handler, a hook, or the holder of a spinLock, which must not
// switch threads: then relax yields the CPU to other OS threads only.
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

// yieldCPU lets other OS threads and processes run on the CPU.
func yieldCPU() { kernel.Yield() }

// spinLock is for operations that are rare and short, and allowed where a caller must not block, such as adding a
// source inside a handler.
type spinLock struct{ word atomic.Uint32 }

func (h *spinLock) lock() {
	for i := 0; !h.word.CompareAndSwap(0, 1); i++ {
		relax(i, true)
	}
}

func (h *spinLock) unlock() { h.word.Store(0) }

// sleepOutcome is how a sleep in the kernel ended.
type sleepOutcome uint8

const (
	sleepRefused     sleepOutcome = iota // no sleep: nothing is pending, or there is a sleeper already
	sleepUnready                         // no sleep: there is something to poll for, or the caller was woken before
	sleepUndisturbed                     // it lasted for its limit
	sleepDisturbed                       // a source or a waker has ended it
	sleepArrived                         // likewise, and the poll after it has found something
)

// forever is the timeout of a sleep without end.
const forever = time.Duration(1<<63 - 1)
