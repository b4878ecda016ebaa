// Package copies copies what must not be copied. go vet has to complain about each
// line.
package copies

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func pass(
	_ marcel.Semaphore,
	_ marcel.Mutex,
	_ marcel.RecursiveMutex,
	_ marcel.RWMutex,
	_ marcel.SpinLock,
	_ marcel.Cond,
	_ marcel.Barrier,
	_ marcel.Once,
	_ marcel.Latch,
	_ marcel.WaitGroup,
	_ marcel.Group,
	_ marcel.Futex,
	_ marcel.Timer,
	_ marcel.Ticker,
	_ marcel.TickerCase,
	_ marcel.Mailbox[int],
	_ marcel.Receiver[int],
	_ marcel.Sender[int],
	_ marcel.ChanReceiver[int],
	_ marcel.Key[int],
	_ marcel.Bubble,
	_ marcel.Gang,
	_ marcel.Waiter,
	_ sched.Alarm,
	_ sched.WaitQueue,
	_ sched.Spin,
	_ sched.BoundedWait,
) {
}

var _ = pass
