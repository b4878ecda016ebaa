package pioman

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/ours"
	"github.com/pm2-go/pm2/sched"
)

// calls is the interface of the scheduler for packages of this module alone.
var calls = sched.Calls(ours.Module{})

// readied counts the goroutines that pollers have woken: see handOver.
var readied atomic.Uint64

// noVPs is the Scheduler of a program without threads: it has no VP. While no waiter polls the progressor
// does.
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

// handOver lets the goroutines run at once that the caller, a poller that holds no queue, has made ready since readied
// had the value before. Where there are no VPs these goroutines are in the Go scheduler's queue of the caller's P, and
// other Ms that look for work steal them only after a pause of some microseconds, which the kernel makes 60 us of.
func (a *attachedEngine) handOver(before uint64) {
	if len(a.vps) == 0 && readied.Load() != before {
		runtime.Gosched()
	}
}

// goroutinesPoll reports whether plain goroutines poll, so that nothing else has to. If so it wakes the progressor,
// which takes over, or kicks a VP, once they have stopped.
func (a *attachedEngine) goroutinesPoll(now int64) bool {
	if calls.GoroutinesPoll(now) == 0 {
		return false
	}
	a.progressor.wake()
	return true
}

// forAll is the hook that a goroutine fires now and then while it polls for something of its own: it polls the engine.
func (a *attachedEngine) forAll(int) hooks.Verdict {
	if a.engine.poll(-1) == roundMoved {
		a.movedAt.Store(asm.Cycles())
		return hooks.Busy
	}
	a.engine.settle(-1)
	return hooks.Waiting
}
