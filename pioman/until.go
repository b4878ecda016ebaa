package pioman

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// glances is how often PollUntil asks before it polls the engine once.
const glances = 16

// PollUntil polls until met says true, for what tells no Completion, such as a flag in memory that another process sets. It returns false when it has polled in vain for as long as
// Wait does before it sleeps, or sooner where others want the processor: then the caller sleeps for a message, or a Completion. met is cheap, does not block, and is called by the caller's thread only.
// For threads and plain goroutines; it allocates nothing.
func (e *Engine) PollUntil(met func() bool) bool {
	for range 4 * glances { // what other processes answer at once
		if met() {
			return true
		}
		asm.Pause()
	}
	l := until{e, met, e.here()}
	if a := e.attached.Load(); a != nil {
		a.notePoll(asm.Cycles())
	}
	return sched.Poll(e.params.BusyWait, e.shared(), l.look)
}

// until is one PollUntil in progress.
type until struct {
	e   *Engine
	met func() bool
	vp  int
}

func (u *until) look() sched.Found {
	for range glances {
		if u.met() {
			return sched.Arrived
		}
		asm.Pause()
	}
	u.e.poll(u.vp)
	return sched.Nothing
}
