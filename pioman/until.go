package pioman

import (
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched"
)

// How often and for how long PollUntil looks.
const (
	glances      = 16                     // calls of met before each poll of the engine; before the first poll four times as many
	politeRounds = 8                      // where other processes use the CPU: rounds of looks, after each of which PollUntil yields the CPU
	politeSpin   = 100 * time.Microsecond // the longest round
)

// PollUntil polls until met returns true, for a condition that signals no Completion, such as a flag in memory that
// another process sets. It returns false when it has polled in vain for about as long as Wait does before it sleeps, or
// sooner where other threads want the VP, or the CPU: then the caller sleeps until a message comes, or on a Completion.
// Only the calling thread calls met, which must be cheap and must not block. PollUntil is for threads and plain
// goroutines, and allocates nothing.
func (e *Engine) PollUntil(met func() bool) bool {
	u := until{engine: e, met: met, vp: e.here(), polite: e.shared()}
	if a := e.attached.Load(); a != nil {
		a.notePoll(asm.Cycles())
	}
	if u.polite {
		for range politeRounds {
			if sched.Poll(politeSpin, true, u.look) {
				return true
			}
			if sched.OnThread() && sched.OthersReady() {
				break
			}
		}
		return false
	}
	for range 4 * glances { // another process may answer at once
		if met() {
			return true
		}
		asm.Pause()
	}
	return sched.Poll(e.params.BusyWait, false, u.look)
}

// until is one PollUntil in progress.
type until struct {
	engine *Engine
	met    func() bool
	vp     int
	polite bool // other processes use the CPU
	looks  int  // calls of look
}

// look is one turn of sched.Poll: it calls met, and polls the engine.
func (u *until) look() sched.Found {
	if u.looks++; u.polite {
		if u.met() {
			return sched.FoundArrived
		}
		if u.looks%4 == 0 {
			u.engine.poll(u.vp)
		}
		return sched.FoundNothing
	}
	for range glances {
		if u.met() {
			return sched.FoundArrived
		}
		asm.Pause()
	}
	u.engine.poll(u.vp)
	return sched.FoundNothing
}
