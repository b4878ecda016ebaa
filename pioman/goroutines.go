package pioman

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/sched"
)

// calls are what the scheduler says of goroutines that poll, and does, for packages of this module alone.
var calls = sched.Calls(ours.Module{})

// readied counts the goroutines that were woken: see handOver.
var readied atomic.Uint64

// noVPs is the Scheduler of a program that has started no thread: it has no virtual processor. What progresses while no
// waiter polls is the progressor's.
type noVPs struct {
	set    hooks.Set
	shared bool
}

// Hooks, NumVP, CurrentVP, Kick, SetSleeper, SharedCPUs, Idle and Queues implement Scheduler.
func (none *noVPs) Hooks() *hooks.Set           { return &none.set }
func (none *noVPs) NumVP() int                  { return 0 }
func (none *noVPs) CurrentVP() int              { return -1 }
func (none *noVPs) Kick(int)                    {}
func (none *noVPs) SetSleeper(sched.Sleeper)    {}
func (none *noVPs) SharedCPUs() bool            { return none.shared || sched.SharedCPUs() }
func (none *noVPs) Idle(int) (idle, awake bool) { return }
func (none *noVPs) Queues() []*sched.Queue      { return nil }

// handOver has the goroutines run at once that the caller has made ready, a poller that holds no queue, and has read
// readied before it polled. Where there are no VPs they lie in the Go scheduler's queue for the caller's P, and other Ms
// that look for work leave it a few microseconds to run them itself: a nanosleep, which the kernel makes 60 us of.
func (a *attachedEngine) handOver(before uint64) {
	if len(a.vps) == 0 && readied.Load() != before {
		runtime.Gosched()
	}
}

// goroutinesPoll tells whether plain goroutines poll, so that nothing else need. If so the progressor watches them: it
// takes over, or has a VP do that, when they have stopped.
func (a *attachedEngine) goroutinesPoll(now int64) bool {
	if calls.GoroutinesPoll(now) == 0 {
		return false
	}
	a.progressor.wake()
	return true
}

// forAll polls the engine for a goroutine that polls for something of its own; it fires this hook now and then.
func (a *attachedEngine) forAll(int) hooks.Verdict {
	if a.e.poll(-1) == moved {
		a.movedAt.Store(asm.Cycles())
		return hooks.Busy
	}
	a.e.settle(-1)
	return hooks.Waiting
}
