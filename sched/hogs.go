package sched

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// hogs is what a VP keeps of its threads that were preempted (hogRank). The holder's.
//
// They have what time is left. But where Idle hooks have something to look for, a message that is on its way,
// the idle loop looks for it first, as long as that of a VP without threads does, and then a hog runs until a thread is
// woken. So the two share the VP, half and half at most:
//
//	in credit ── the loop has looked a slice longer than hogs have run ──► in debt: hogs run at once
//	in debt ──── hogs have run for what was looked ──────────────────────► in credit
type hogs struct {
	at     int64  // cycles: when one had its turn last, or was preempted
	turn   uint32 // vp.turn when the loop had looked for long enough
	debt   int64  // cycles: looked, less what hogs have run since
	inDebt bool
}

// looksFirst tells whether the idle loop is to look before a hog runs.
func (v *vp) looksFirst() bool {
	return !v.hogs.inDebt && v.turn != v.hogs.turn && !v.sched.hooks.Silent(hooks.Idle)
}

// putsOff tells whether hogs, and nothing else, are ready, while the idle loop looks first.
func (v *vp) putsOff() bool {
	return v.q.present()|v.above() == hogRank.bit() && v.inbox.Load() == nil && v.looksFirst()
}

// looked charges for what the idle loop has looked while hogs were ready, in cycles; last: that is enough, until
// another thread has run.
func (g *hogs) looked(d, slice int64, turn uint32, last bool) {
	if g.debt += max(d, 0); g.debt > slice {
		g.inDebt = true
	}
	if last {
		g.turn = turn
	}
}

// ran ends a hog's turn: the others of Default priority go first.
func (g *hogs) ran() {
	now := asm.Cycles()
	if g.debt -= max(now-g.at, 0); g.debt <= 0 {
		g.debt, g.inDebt = 0, false
	}
	g.at = now
}
