package sched

import "sync/atomic"

// Taking an OS thread back takes some tens of microseconds, a goroutine that waits none. So a
// function whose threads waited in Go before they called the scheduler is begun as a goroutine
// the next times: with all that a thread has (Self, Join, keys, cancel), and without a VP until
// its first call, which queues it. One in sampleEvery is begun as ever, to see whether that is
// still so: each costs a point, each that waits in Go first earns one.
//
// The table is global, as code is, and approximate: a function that finds its place taken by
// another one takes it over when that has no points.
type habit struct {
	code  atomic.Uintptr
	score atomic.Int32
	turn  atomic.Uint32
}

const (
	habitBits   = 9
	enoughScore = 2
	mostScore   = 8
	sampleEvery = 256
)

var (
	habits    [1 << habitBits]habit
	anyHabits atomic.Bool // some function has enough
)

func habitOf(code uintptr) *habit {
	return &habits[uint64(code)*0x9E3779B97F4A7C15>>(64-habitBits)]
}

// learn notes that the thread of c has waited in Go on v: if it has made no switch since it
// began, its function has earned a point.
func learn(c *co, v *vp) {
	t := c.threadOn()
	if t == nil || c.beganAt() != v.ticks() {
		return
	}
	code := t.code()
	if code == 0 {
		return
	}
	h := habitOf(code)
	if h.code.Load() != code {
		if h.score.Load() > 0 {
			h.score.Add(-1)
			return
		}
		h.code.Store(code)
		h.score.Store(0)
	}
	if n := h.score.Load(); n < mostScore && h.score.Add(1) >= enoughScore {
		anyHabits.Store(true)
	}
}

// waitsInGo tells whether a thread for b is to be begun as a goroutine.
func waitsInGo(b Body) bool {
	code := codeOf(b)
	h := habitOf(code)
	if h.code.Load() != code || h.score.Load() < enoughScore {
		return false
	}
	if h.turn.Add(1)%sampleEvery == 0 {
		h.score.Add(-1)
		return false
	}
	return true
}

//go:norace
func (c *co) beganAt() uint32 { return c.began }

// wander begins t as a goroutine: a thread of v's scheduler that is on no VP.
func (v *vp) wander(t *thread) {
	c := &co{id: lostID, l: &v.ghost, cur: t, taken: true}
	born()
	t.co = c
	go c.liveOutside()
}

// liveOutside is the life of a runner that begins as a goroutine, with a thread.
func (c *co) liveOutside() {
	c.introduce()
	defer c.exiting()
	for c.fresh = true; !c.quit; {
		c.run()
	}
}
