package pollers

import (
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/internal/kernel"
)

// clock is a thread that polls in the name of the pollers that get no turn,
// because all CPUs compute, and finds others for them.
type clock struct {
	pool   *Pool
	sleeps atomic.Uint32 // the futex. 1: the clock sleeps until rouse writes 0
	next   atomic.Uint32 // the poller to wake first; the clock writes
	ticks  atomic.Uint64

	// Only the clock uses these.
	seen   []uint64 // signs of life of each poller at the last tick
	idle   int      // ticks with nothing to do, in a row
	steady int      // ticks, in a row, at which all pollers that are awake had had turns
	over   bool
}

// patient is how many ticks with nothing to do come before the clock falls asleep.
const patient = 16

// main is the life of the thread. It is not bound.
func (c *clock) main() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := c.pool
	defer func() {
		if !c.over { // a handler has ended the goroutine
			go c.main()
			return
		}
		p.ended.Done()
	}()
	if c.seen == nil {
		c.seen = make([]uint64, len(p.all))
	}
	for !p.stopping.Load() {
		if c.tick() {
			c.idle = 0
		} else if c.idle++; c.idle > patient {
			c.fallAsleep()
			continue
		}
		futexWait(&c.sleeps, 0, pause(c.steady)*int64(p.cfg.Tick))
	}
	c.over = true
}

// pause is how many periods the next tick may be away: while the pollers get their turns the clock has nothing to
// do for them, and on a virtual machine each of its interrupts takes 45 us from a thread that computes or copies.
func pause(steady int) int64 {
	switch {
	case steady < 5:
		return 1
	case steady < 7:
		return 2
	}
	return longestPause
}

// longestPause is in periods: so much later a poller that gets no turns is found.
const longestPause = 4

// tick looks at every poller once. false: there was nothing to do.
func (c *clock) tick() bool {
	p := c.pool
	c.ticks.Add(1)
	c.steady++
	for i, x := range p.all {
		signs := x.bursts.Load() + x.wakes.Load()
		if signs == c.seen[i] && x.state.CompareAndSwap(awake, starved) { // pairs with awaitCPU
			x.starvations.Add(1)
			p.running.Add(-1)
			c.next.Store(uint32(i + 1)) // on another CPU
		}
		c.seen[i] = signs
	}
	verdict, watched := hooks.Quiet, false
	for i, x := range p.all {
		if x.inSleeper.Load() {
			watched = true
		}
		if x.state.Load() == starved {
			c.steady = 0
			verdict = max(verdict, p.hooks.Fire(hooks.Timer, i))
		}
	}
	if p.running.Load() == 0 {
		c.steady = 0
	}
	if verdict != hooks.Quiet && p.running.Load() == 0 && !watched {
		p.wakeOne()
	}
	return p.running.Load() > 0 || verdict != hooks.Quiet
}

// fallAsleep sleeps until the clock is roused, unless it is needed after all: a poller that needs it looks at
// sleeps after having said so.
func (c *clock) fallAsleep() {
	p := c.pool
	c.idle = 0
	c.sleeps.Store(1)
	if p.running.Load() > 0 || !p.hooks.Silent(hooks.Timer) && c.starving() || p.stopping.Load() {
		c.sleeps.Store(0)
		return
	}
	for c.sleeps.Load() == 1 && !p.stopping.Load() {
		futexWait(&c.sleeps, 1, 0)
	}
}

func (c *clock) starving() bool {
	for _, x := range c.pool.all {
		if x.state.Load() == starved {
			return true
		}
	}
	return false
}

// rouse has the clock tick: one load if it does.
func (c *clock) rouse() {
	if c.sleeps.Load() != 0 {
		c.wake()
	}
}

func (c *clock) wake() {
	c.sleeps.Store(0)
	kernel.FutexWake(&c.sleeps)
}
