package pioman

import (
	"math"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// What the hooks do at each point: who polls, when, and how often.

// vpState is what the hooks remember of one virtual processor.
type vpState struct {
	last atomic.Int64 // asm.Cycles of the last poll at a hook; its LWP and the timer write

	// The idle hook's alone, hence its LWP's.
	seen   view  // activity at its last look
	active int64 // asm.Cycles when something happened last

	_ [line - 24]byte
}

// never is when a virtual processor polled that has not polled yet; no difference
// from it overflows.
const never = math.MinInt64 / 2

// idle polls on the LWP of a virtual processor with nothing to run. Busy for as long
// as something keeps happening; Waiting: it may sleep in the Sleeper.
func (a *attachment) idle(vp int) hooks.Verdict {
	before := a.e.load.view()
	if before.pending() == 0 || vp < 0 || vp >= len(a.vps) {
		return hooks.Quiet
	}
	s := &a.vps[vp]
	out := a.e.poll(vp)
	now := asm.Cycles()
	if activity := a.e.load.view().activity(); out == moved || activity != s.seen {
		s.seen, s.active = activity, now
	}
	if now-s.active < a.e.ticks.hot {
		return hooks.Busy
	}
	return hooks.Waiting
}

// onSwitch polls at a context switch, on the thread just switched to, at most once
// per switchPeriod: a poll may cost as much as ten switches.
func (a *attachment) onSwitch(vp int) hooks.Verdict {
	if a.e.load.view().pending() == 0 {
		return hooks.Quiet
	}
	return a.due(vp, a.e.ticks.switchPeriod)
}

// timer polls in the name of a virtual processor that is awake but may compute
// without ever coming by. If an idle one sleeps in the Sleeper since before the
// latest request, it takes a fresh look: it is better placed to poll from now on.
func (a *attachment) timer(vp int) hooks.Verdict {
	if a.e.load.view().pending() == 0 {
		return hooks.Quiet
	}
	verdict := a.due(vp, a.e.ticks.timerPeriod)
	a.e.survey()
	if v := a.e.load.view(); v.asleep() && a.e.sleeper.outdated(v) {
		a.e.sleeper.wake()
	}
	return verdict
}

// due polls for a virtual processor unless it polled within period (in cycles).
func (a *attachment) due(vp int, period int64) hooks.Verdict {
	if vp < 0 || vp >= len(a.vps) {
		return hooks.Waiting
	}
	s := &a.vps[vp]
	now := asm.Cycles()
	if now-s.last.Load() < period {
		return hooks.Waiting
	}
	s.last.Store(now)
	if a.e.poll(vp) == moved {
		return hooks.Busy
	}
	return hooks.Waiting
}
