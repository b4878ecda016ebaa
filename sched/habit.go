package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/sched/direct"
)

// Some functions wait in Go (a channel, a net.Conn) before they call the scheduler. A thread that does so keeps its
// VP's OS thread until the scheduler takes that back, which costs some tens of microseconds. So the scheduler learns
// such functions and begins their next threads as goroutines: such a thread has all that a thread has (Self, Join,
// keys, cancel), and no VP until its first call, which queues it.

// habit is an entry of the table of functions that wait in Go first. A function gets a point for each thread that does
// so. It loses one for each thread that was begun as a goroutine and called the scheduler, or ended, without having
// waited in Go.
//
// The table is global, as code is, and approximate: two functions may have the same entry. The second one takes the
// entry over when the first has no points left. Any thread may use the table at any time.
type habit struct {
	code  atomic.Uintptr // the function: see codeOf; 0: none
	score atomic.Int32   // its points
}

const (
	habitBits   = 9 // the table has 2^habitBits entries
	enoughScore = 2 // from here on threads of the function begin as goroutines
	mostScore   = 8
)

var (
	habits    [1 << habitBits]habit
	anyHabits atomic.Bool // some function has had enoughScore points
)

// habitOf returns the entry in which a function is, or may be.
func habitOf(code uintptr) *habit {
	return &habits[uint64(code)*0x9E3779B97F4A7C15>>(64-habitBits)]
}

// learnHabit notes that the thread of c waits in Go on v. If the thread has made no switch since it
// began, its function gets a point.
func learnHabit(c *co, v *vp) {
	t := c.threadHint()
	if t == nil || c.beganTickHint() != v.ticks() {
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

// earn adds a point.
func (hb *habit) earn() {
	if n := hb.score.Load(); n < mostScore && hb.score.Add(1) >= enoughScore {
		anyHabits.Store(true)
	}
}

// lose takes a point away, if there is one.
func (hb *habit) lose() {
	if hb.score.Load() > 0 {
		hb.score.Add(-1)
	}
}

// habitOfBody returns the habit of b's function if its threads are to begin as goroutines, else nil.
func habitOfBody(b Body) *habit {
	if !anyHabits.Load() {
		return nil
	}
	return strongHabit(b)
}

// strongHabit is habitOfBody once some function has had enoughScore points.
func strongHabit(b Body) *habit {
	code := codeOf(b)
	h := habitOf(code)
	if h.code.Load() != code || h.score.Load() < enoughScore {
		return nil
	}
	return h
}

// scoreHabit gives habit h a point, or takes one. c was begun as a goroutine because of h and calls the scheduler for
// the first time: h was right if c has waited in Go by then. The runtime keeps the reason of a goroutine's last wait.
func (c *co) scoreHabit(h *habit) {
	c.habit = nil
	if direct.ByChoice(c.seat.G) {
		h.earn()
	} else {
		h.lose()
	}
}

// Wrapper is the first field of a Body type that calls a function of the user. What the scheduler learns of the
// threads of such a Body it learns of that function, not of the type's Run.
type Wrapper struct{ code uintptr }

func (Wrapper) wraps() {}

// beganTickHint returns the tick of c's VP at which c's thread began: a racy hint; at worst it is the tick of the
// thread before.
//
//go:norace
func (c *co) beganTickHint() uint32 { return c.beganTick }

// startByHabit begins t as a goroutine, because of habit h. t belongs to v's scheduler and is on no VP.
func (v *vp) startByHabit(t *thread, h *habit) {
	c := &co{id: lostID, l: &v.outsideLWP, cur: t, parkedByMaker: true, habit: h}
	raceBirth()
	t.co = c
	go c.liveOutside()
}

// liveOutside is the life of a runner that begins as a goroutine, with a thread.
func (c *co) liveOutside() {
	c.registerSelf()
	defer c.exiting()
	for c.beginsOutside = true; !c.ending; {
		c.run()
	}
}
