package pioman

import (
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// How PollUntil looks.
const (
	glances      = 16                     // how often it asks before it polls the engine once; and how often four times that before it polls at all
	politeRounds = 8                      // where other processes use the CPU: rounds of looks, after each of which it has them run
	politeSpin   = 100 * time.Microsecond // and how long a round may take
)

// PollUntil polls until met says true, for what tells no Completion, such as a flag in memory that another process sets.
// It returns false when it has polled in vain for about as long as Wait does before it sleeps, or sooner where other
// threads want the processor: then the caller sleeps for a message, or a Completion. met is cheap, does not block, and is
// called by the caller's thread only. For threads and plain goroutines; it allocates nothing.
func (e *Engine) PollUntil(met func() bool) bool {
	u := until{e: e, met: met, vp: e.here(), polite: e.shared()}
	if a := e.attached.Load(); a != nil {
		a.notePoll(asm.Cycles())
	}
	if u.polite {
		for range politeRounds {
			if sched.Poll(politeSpin, true, u.look) {
				return true
			}
			if sched.OnThread() && sched.Ready() {
				break
			}
		}
		return false
	}
	for range 4 * glances { // what other processes answer at once
		if met() {
			return true
		}
		asm.Pause()
	}
	return sched.Poll(e.params.BusyWait, false, u.look)
}

// until is one PollUntil in progress.
type until struct {
	e      *Engine
	met    func() bool
	vp     int
	polite bool // other processes use the CPU
	looks  int
}

func (u *until) look() sched.Found {
	if u.looks++; u.polite {
		if u.met() {
			return sched.Arrived
		}
		if u.looks%4 == 0 {
			u.e.poll(u.vp)
		}
		return sched.Nothing
	}
	for range glances {
		if u.met() {
			return sched.Arrived
		}
		asm.Pause()
	}
	u.e.poll(u.vp)
	return sched.Nothing
}
