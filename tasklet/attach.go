package tasklet

import (
	"errors"
	"fmt"

	"github.com/pm2-go/pm2/hooks"
)

// ErrScheduler is returned by Attach if the scheduler cannot be used.
var ErrScheduler = errors.New("tasklet: unusable scheduler")

// Priority is the priority of the tasklets among the hooks of a point. They run early, because they
// are short, and because they may cause work for later hooks.
const Priority = -100

// How many tasklets one firing runs at most.
const (
	idleLimit   = 64 // at Idle: the VP has nothing else to do but to call the other hooks
	threadLimit = 8  // at Switch, Yield and Library: a thread waits meanwhile
	timerLimit  = 16 // at Timer: the clock has the other VPs to serve
)

var limits = [hooks.NumPoints]int{
	hooks.Idle: idleLimit, hooks.Switch: threadLimit, hooks.Timer: timerLimit,
	hooks.Yield: threadLimit, hooks.Library: threadLimit,
}

// maxUnfinishedFirings is how many firings in a row at switches, yields and library entries may leave tasklets behind
// before a helper thread serves the tasklet queue: as many as in Linux.
const maxUnfinishedFirings = 10

// Attach makes a vector and registers it with the hooks of s, at every point. Several vectors on one
// scheduler are independent of each other.
func Attach(s Scheduler) (*Vector, error) {
	if s == nil {
		return nil, fmt.Errorf("attach: %w: there is none", ErrScheduler)
	}
	set, n := s.Hooks(), s.NumVP()
	if set == nil {
		return nil, fmt.Errorf("attach: %w: it has no hooks", ErrScheduler)
	}
	if n < 1 || n > queueLimit {
		return nil, fmt.Errorf("attach: %w: it has %d VPs, not 1 to %d", ErrScheduler, n, queueLimit)
	}
	v := &Vector{queues: make([]taskletQueue, n), sched: s, maxUnfinished: maxUnfinishedFirings}
	for i := range v.queues {
		v.queues[i].index = i
		v.queues[i].lock.ready()
	}
	for p, limit := range limits {
		h, err := set.Register(hooks.Point(p), Priority, "tasklets", func(vp int) hooks.Verdict {
			return v.fire(vp, hooks.Point(p), limit)
		})
		if err != nil {
			v.Detach()
			return nil, fmt.Errorf("attach: %w", err)
		}
		v.hooks[p] = h
	}
	return v, nil
}

// Detach unregisters the vector's hooks. It waits for tasklets that run. On return no tasklet begins any more; queued
// tasklets are dropped, and Schedule returns false from now on. Called from one of the vector's tasklets it does not
// wait: other VPs may still run the tasklet that they have begun. It may be called any number of times.
func (v *Vector) Detach() {
	if v == nil {
		return
	}
	v.closed.Store(true)
	for _, h := range v.hooks {
		h.Unregister()
	}
	// A firing may still be under way. A firing that takes the lock of a tasklet queue after Detach has had it sees
	// closed. So once Detach has had each lock, no tasklet begins any more.
	mine := v.ownQueue()
	for i := range v.queues {
		l := &v.queues[i]
		if l == mine {
			l.sweep(true)
			continue
		}
		for i := 0; !l.trySweep(true) && mine == nil; i++ {
			pause(i)
		}
	}
}

// fire is the hook of a point: it fires in the tasklet queue of VP vp.
func (v *Vector) fire(vp int, at hooks.Point, limit int) hooks.Verdict {
	if uint(vp) >= uint(len(v.queues)) {
		return hooks.Quiet
	}
	return v.queues[vp].fire(v, at, limit)
}
