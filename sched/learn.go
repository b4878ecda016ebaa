package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/direct"
)

// Taking an OS thread back takes some tens of microseconds, a goroutine that waits none. So a
// function whose threads waited in Go before they called the scheduler is begun as a goroutine
// the next times: with all that a thread has (Self, Join, keys, cancel), and without a VP until
// its first call, which queues it. Each thread that waits in Go first earns its function a point;
// each that was begun as a goroutine, and calls the scheduler, or ends, without having waited, costs one.
//
// The table is global, as code is, and approximate: a function that finds its place taken by
// another one takes it over when that has no points.
type habit struct {
	code  atomic.Uintptr
	score atomic.Int32
}

const (
	habitBits   = 9
	enoughScore = 2
	mostScore   = 8
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
			h.lose()
			return
		}
		h.code.Store(code)
		h.score.Store(0)
	}
	h.earn()
}

func (h *habit) earn() {
	if n := h.score.Load(); n < mostScore && h.score.Add(1) >= enoughScore {
		anyHabits.Store(true)
	}
}

func (h *habit) lose() {
	if h.score.Load() > 0 {
		h.score.Add(-1)
	}
}

// waitsInGo is the habit for which a thread for b is to be begun as a goroutine, nil if it is not.
func waitsInGo(b Body) *habit {
	if !anyHabits.Load() {
		return nil
	}
	return strongHabit(b)
}

func strongHabit(b Body) *habit {
	code := codeOf(b)
	h := habitOf(code)
	if h.code.Load() != code || h.score.Load() < enoughScore {
		return nil
	}
	return h
}

// judge is for c, which was begun as a goroutine because of habit h and calls the scheduler for the first time: has it
// waited in Go before? The runtime keeps the reason of a goroutine's last wait until it ends.
func (c *co) judge(h *habit) {
	c.guess = nil
	if direct.ByChoice(c.seat.G) {
		h.earn()
	} else {
		h.lose()
	}
}

// Wrapper is the first field of a Body that calls a function of the user's, as other Bodies of its type call others: what
// is learned of its threads is learned of that function.
type Wrapper struct{ code uintptr }

func (Wrapper) wraps() {}

//go:norace
func (c *co) beganAt() uint32 { return c.began }

// wander begins t as a goroutine, because of habit h: a thread of v's scheduler that is on no VP.
func (v *vp) wander(t *thread, h *habit) {
	c := &co{id: lostID, l: &v.ghost, cur: t, taken: true, guess: h}
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
