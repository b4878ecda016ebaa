package nmad

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
)

// spinTries is how often a lock that is held is looked at before the processor
// is offered to others. Sections take tens of nanoseconds up to the copy of one eager
// body, a few microseconds.
const spinTries = 200

// spinlock is the lock of a gate: short sections, nothing inside blocks or
// switches threads. A poller that finds it held goes away, for the holder
// polls or is about to. Parking the waiters instead would save nothing for sections
// this short, and costs 20 us for a bound OS thread.
//
// A holder can lose its CPU all the same. A holder that has also lost its VP needs another VP to run
// it. So a long waiter yields in the kernel and on its own VP. A waiter without a VP, such as the LWP
// that sleeps in the kernel for the VPs, yields in the kernel, too: a yield to the Go scheduler alone
// does not give the CPU to a holder on another OS thread before the kernel's slice is over.
type spinlock struct {
	word    atomic.Uint32 // 0 free, 1 held; the thread that takes or releases the lock writes it
	waiters atomic.Int32  // callers inside slow; read by a holder that could stay longer
}

func (l *spinlock) tryLock() bool {
	return l.word.Load() == 0 && l.word.CompareAndSwap(0, 1)
}

// lock spins until it has the lock. It must not be called from hooks: those try.
func (l *spinlock) lock() {
	if !l.word.CompareAndSwap(0, 1) {
		l.slow()
	}
}

func (l *spinlock) slow() {
	l.waiters.Add(1)
	for tries := 0; !l.tryLock(); tries++ {
		switch {
		case tries < spinTries:
			asm.Pause()
		case tries%4 != 0:
			kernel.Yield()
		case marcel.OnThread():
			marcel.Yield()
		default:
			runtime.Gosched() // the holder may be a goroutine that waits for a P
		}
	}
	l.waiters.Add(-1)
}

func (l *spinlock) unlock() { l.word.Store(0) }

// wanted says whether a thread spins for the lock.
func (l *spinlock) wanted() bool { return l.waiters.Load() != 0 }
