package pioman

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// readied counts the goroutines that were woken: see handOver.
var readied atomic.Uint64

// noVPs is the Scheduler of a program that has started no thread: it has no virtual processor. What progresses while no
// waiter polls is the progressor's.
type noVPs struct {
	set    hooks.Set
	shared bool
}

// Hooks, NumVP, CurrentVP, Kick, SetSleeper, Shared and Queues implement Scheduler.
func (n *noVPs) Hooks() *hooks.Set        { return &n.set }
func (n *noVPs) NumVP() int               { return 0 }
func (n *noVPs) CurrentVP() int           { return -1 }
func (n *noVPs) Kick(int)                 {}
func (n *noVPs) SetSleeper(sched.Sleeper) {}
func (n *noVPs) Shared() bool             { return n.shared || sched.SharesCPUs() }
func (n *noVPs) Queues() []*sched.Queue   { return nil }

// HandOver lets the goroutines run that the caller, the progressor, has made ready: they are in the queue of its P.
func (n *noVPs) HandOver() { runtime.Gosched() }

// handsOver is what an attachment may ask of a scheduler beyond Scheduler: to have the goroutines run at
// once that the caller, a poller, has made ready. They lie in the Go scheduler's queue for
// its P, and other Ms that look for work leave it a few microseconds to run them itself: a
// nanosleep, which the kernel makes 60 us of.
type handsOver interface{ HandOver() }

// handOver is for a poller that holds no queue, and has read readied before it polled.
func (a *attachment) handOver(before uint64) {
	if readied.Load() != before {
		if h, ok := a.s.(handsOver); ok {
			h.HandOver()
		}
	}
}

// goroutinesPoll tells whether plain goroutines poll, so that nothing else need. If so the progressor watches them: it takes
// over, or has a VP do that, when they have stopped.
func (a *attachment) goroutinesPoll(now int64) bool {
	if sched.GoroutinesPoll(now) == 0 {
		return false
	}
	a.progressor.rouse()
	return true
}

// forAll polls the engine for a goroutine that polls for something of its own; it fires this hook now and then.
func (a *attachment) forAll(int) hooks.Verdict {
	if a.e.poll(-1) == moved {
		a.movedAt.Store(asm.Cycles())
		return hooks.Busy
	}
	a.e.settle(-1)
	return hooks.Waiting
}
