package tasklet

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// Scheduler is what tasklets need of a scheduler; *sched.Scheduler implements it.
type Scheduler interface {
	Hooks() *hooks.Set
	NumVP() int     // constant; VPs are numbered from 0
	CurrentVP() int // of the calling thread; below 0 on none
	Kick(vp int)    // makes vp fire its idle hooks if it sleeps or is about to
	Spawn(sched.Attr, func()) sched.Thread
}

// Vector holds the tasklets that are queued on the VPs of one scheduler.
type Vector struct {
	lanes         []lane // one per VP
	sched         Scheduler
	hooks         [hooks.NumPoints]*hooks.Hook
	closed        atomic.Bool // set by Detach, read by every Schedule and every firing
	maxUnfinished int         // after more firings on threads in a row that leave tasklets the helper serves a lane
	_             [128]byte
	homes         atomic.Uint32 // tasklets that have got a first lane; each Init adds one
	_             [128]byte
}

// remind kicks the VP of a lane, which may sleep, unless it is the caller's.
func (v *Vector) remind(lane int) {
	if v.sched.CurrentVP() != lane {
		v.sched.Kick(lane)
	}
}

// current returns the caller's VP; below 0: it runs on none of this scheduler.
func (v *Vector) current() int {
	if vp := v.sched.CurrentVP(); vp < len(v.lanes) {
		return vp
	}
	return -1
}

// nextHome returns the first lane of a new tasklet: the lanes in turn.
func (v *Vector) nextHome() int {
	return int((v.homes.Add(1) - 1) % uint32(len(v.lanes)))
}

// ownLane returns the lane that the calling goroutine holds, because it calls from a tasklet; else nil.
func (v *Vector) ownLane() *lane {
	g := asm.G()
	for i := range v.lanes {
		if v.lanes[i].lock.is(g) {
			return &v.lanes[i]
		}
	}
	return nil
}
