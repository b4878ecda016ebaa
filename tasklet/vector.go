package tasklet

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched"
)

// ErrScheduler is what Attach complains about.
var ErrScheduler = errors.New("tasklet: unusable scheduler")

// Scheduler is what tasklets need to know of one; *sched.Scheduler is one.
type Scheduler interface {
	Hooks() *hooks.Set
	NumVP() int     // constant; processors are numbered from 0
	CurrentVP() int // of the calling thread; below 0 on none
	Kick(vp int)    // makes vp fire its idle hooks if it sleeps or is about to
	Spawn(sched.Attr, func()) sched.Thread
}

// Priority is that of the tasklets among the hooks of a point: early, because they
// are short, and because what they do may give later hooks something to do.
const Priority = -100

// How many tasklets one firing runs at most. An idle processor has nothing better
// to do but to look at the other hooks now and then; a thread that has just been
// switched to, or that calls the scheduler, waits meanwhile; the timer thread has the
// other processors to serve.
const (
	idleLimit   = 64
	threadLimit = 8
	timerLimit  = 16
)

var limits = [hooks.NumPoints]int{
	hooks.Idle: idleLimit, hooks.Switch: threadLimit, hooks.Timer: timerLimit,
	hooks.Yield: threadLimit, hooks.Library: threadLimit,
}

// Vector holds the tasklets that are queued on the processors of one scheduler.
type Vector struct {
	lanes   []lane // one per virtual processor
	sched   Scheduler
	hooks   [hooks.NumPoints]*hooks.Hook
	closed  atomic.Bool // set by Detach, read by every Schedule and every firing
	bound   int         // how often in a row a lane may be taken up again by threads
	_       [128]byte
	homes   atomic.Uint32 // how many tasklets have got a home: written by every Init
	_       [128]byte
	refused atomic.Uint64 // see Stats
	_       [128]byte
}

// Config says how a vector is to work. The zero value is the default.
type Config struct {
	// Restarts is how often in a row firings at switches, yields and library entries
	// take up what the one before has left, before the rest goes to a helper thread;
	// 0: 10, as in Linux. Negative: for ever, there is no helper.
	Restarts int
}

const defaultRestarts = 10

// Attach makes a vector and hangs it on the hooks of s, at every point.
// Several vectors on one scheduler do not know of each other.
func Attach(s Scheduler) (*Vector, error) { return AttachWith(s, Config{}) }

// AttachWith is Attach with a configuration.
func AttachWith(s Scheduler, c Config) (*Vector, error) {
	if s == nil {
		return nil, fmt.Errorf("attach: %w: there is none", ErrScheduler)
	}
	set, n := s.Hooks(), s.NumVP()
	if set == nil {
		return nil, fmt.Errorf("attach: %w: it has no hooks", ErrScheduler)
	}
	if n < 1 || n > laneLimit {
		return nil, fmt.Errorf("attach: %w: it has %d processors, not 1 to %d", ErrScheduler, n, laneLimit)
	}
	v := &Vector{lanes: make([]lane, n), sched: s, bound: c.Restarts}
	if c.Restarts == 0 {
		v.bound = defaultRestarts
	}
	for i := range v.lanes {
		v.lanes[i].index = i
		v.lanes[i].turn.ready()
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

// Detach takes the vector off the hooks. It waits for tasklets that are running,
// and on return none begins any more; those that were queued are dropped, and
// Schedule says false from now on. Called from one of its tasklets it does not
// wait: those of other processors may still be at the one that they have begun. It
// may be called any number of times.
func (v *Vector) Detach() {
	if v == nil {
		return
	}
	v.closed.Store(true)
	for _, h := range v.hooks {
		h.Unregister()
	}
	// A firing may still be under way. A firing that takes a turn after we had it sees
	// closed; so once we had each one, none begins.
	mine := v.mine()
	for i := range v.lanes {
		l := &v.lanes[i]
		if l == mine {
			l.sweep(true)
			continue
		}
		for p := (patience{}); !l.visit(true) && mine == nil; {
			p.pause()
		}
	}
}

// fire is the hook.
func (v *Vector) fire(vp int, at hooks.Point, limit int) hooks.Verdict {
	if uint(vp) >= uint(len(v.lanes)) {
		return hooks.Quiet
	}
	return v.lanes[vp].fire(v, at, limit)
}

// push puts t, whose state says so, into a lane, and sees to it that a firing
// looks there.
func (v *Vector) push(t *Tasklet, s state) {
	lane := s.lane()
	if v.lanes[lane].push(t, s.rank()) {
		v.remind(lane)
	}
}

// remind wakes a processor that may sleep: all but our own.
func (v *Vector) remind(lane int) {
	if v.sched.CurrentVP() != lane {
		v.sched.Kick(lane)
	}
}

// current returns the caller's processor, below 0 if it is on none that we know.
func (v *Vector) current() int {
	if vp := v.sched.CurrentVP(); vp < len(v.lanes) {
		return vp
	}
	return -1
}

// nextHome deals out the lanes, one after the other.
func (v *Vector) nextHome() int {
	return int((v.homes.Add(1) - 1) % uint32(len(v.lanes)))
}

// mine returns the lane whose turn the calling goroutine has, because it calls from
// a tasklet; else nil.
func (v *Vector) mine() *lane {
	g := asm.G()
	for i := range v.lanes {
		if v.lanes[i].turn.is(g) {
			return &v.lanes[i]
		}
	}
	return nil
}
