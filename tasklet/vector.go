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
	queues        []taskletQueue // one per VP
	sched         Scheduler
	hooks         [hooks.NumPoints]*hooks.Hook
	closed        atomic.Bool // set by Detach, read by every Schedule and every firing
	maxUnfinished int         // after more firings on threads in a row that leave tasklets the helper serves a tasklet queue
	_             [128]byte
	homes         atomic.Uint32 // tasklets that have got a first tasklet queue; each Init adds one
	_             [128]byte
}

// remind kicks the VP of a tasklet queue, which may sleep, unless it is the caller's.
func (v *Vector) remind(queue int) {
	if v.sched.CurrentVP() != queue {
		v.sched.Kick(queue)
	}
}

// current returns the caller's VP; below 0: it runs on none of this scheduler.
func (v *Vector) current() int {
	if vp := v.sched.CurrentVP(); vp < len(v.queues) {
		return vp
	}
	return -1
}

// nextHome returns the first tasklet queue of a new tasklet: the tasklet queues in turn.
func (v *Vector) nextHome() int {
	return int((v.homes.Add(1) - 1) % uint32(len(v.queues)))
}

// ownQueue returns the tasklet queue that the calling goroutine holds, because it calls from a tasklet; else nil.
func (v *Vector) ownQueue() *taskletQueue {
	g := asm.G()
	for i := range v.queues {
		if v.queues[i].lock.is(g) {
			return &v.queues[i]
		}
	}
	return nil
}
