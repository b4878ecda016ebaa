package sched

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// clock is the timer thread: an OS thread of its own, because VPs that compute
// cannot look after themselves. Every period it fires the timer hook in the
// name of each VP that is awake, has VPs taken from threads that hog them, and
// ends the timed waits that are over. Where threads tend their VPs it pauses (tend.go). When nothing moves it becomes dormant:
// it sleeps until somebody rouses it or the next timed wait is over.
type clock struct {
	s        *Scheduler
	word     atomic.Uint32 // futex: roused or hurried
	dormant  atomic.Uint32
	wakeAt   atomic.Int64  // ns: it sleeps until then, or is awake if that is over; see hurry
	ticks    uint64        // so far
	allowed  int           // Ps raised for displaced threads, or about to be; see allow
	changing atomic.Bool   // that is being done
	robbed   int           // the most of these since trim
	trimAt   int64         // ns: when to look for what is not needed any more
	surplus  bool          // and whether there was some
	tended   int           // ticks in a row that threads had seen to; see pause
	mask     cpuSet        // where it may run
	nap      unix.Timespec // its own, so that a sleep allocates nothing
}

// watch is what the clock remembers of a VP.
type watch struct {
	tick  uint32
	since int64 // ns: when tick took this value
	told  bool  // the watchdog has told of it
}

const (
	// dormantAfter periods without any movement the clock sleeps.
	dormantAfter = 20
	// stuckLook bounds that sleep, in ns, while a thread holds a VP without
	// moving: it may compute, and its hooks may find something.
	stuckLook = 50_000_000
)

// What the clock is woken for.
const (
	roused  = 1 // something moves
	hurried = 2 // a timer is over earlier than it knew
)

func (c *clock) rouse() {
	c.word.Store(roused)
	futexWake(&c.word)
}

// hurry sees to it that the clock is awake at time at. The caller has lowered the
// next of a wheel to it; then it looks until when the clock sleeps. The clock first
// says until when it will sleep, then looks at next.
func (c *clock) hurry(at int64) {
	for {
		until := c.wakeAt.Load()
		if until <= at {
			return // it is awake, and will look; or it will wake in time
		}
		if c.wakeAt.CompareAndSwap(until, at) { // who is later than we leaves it to us
			c.word.CompareAndSwap(0, hurried)
			futexWake(&c.word)
			return
		}
	}
}

// attend ends a doze, so that timer hooks fire again.
func (c *clock) attend() {
	if c.dormant.Load() != 0 {
		c.rouse()
	}
}

func (c *clock) main() {
	runtime.LockOSThread() // exits locked: whatever was set on the OS thread goes with it
	defer func() {
		if !c.s.stopping.Load() {
			go c.main() // a Timer hook has ended the goroutine
			return
		}
		c.s.closeTimers()
		c.s.freeThread()
		c.s.lwps.done.Done()
	}()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // else the kernel may wake it 50 us late
	c.s.setPolicy(0, schedOther, sliceVP)              // it has little to do, but at once
	c.mask = processMask
	period := int64(c.s.cfg.Period)
	still := 0
	ticked := nanotime()
	c.trimAt = ticked + int64(c.s.cfg.SpareTime)
	for !c.s.stopping.Load() {
		now := nanotime()
		next := c.s.fireTimers(now)
		if now-ticked >= period*3/4 {
			ticked = now
			if still++; c.tick(now) {
				still = 0
			}
			if now >= c.trimAt {
				c.trim(now)
			}
		}
		limit := ticked + pause(c.tended)*period
		if still > dormantAfter {
			limit = c.doze(ticked)
		}
		c.wakeAt.Store(min(limit, next))
		if wait := min(limit, c.s.nextTimer()) - nanotime(); wait > 0 && c.word.Load() == 0 {
			c.nap = unix.NsecToTimespec(wait)
			futexWaitFor(&c.word, &c.nap)
		}
		c.wakeAt.Store(0)
		if c.word.Swap(0) == roused {
			still = 0
		}
		if c.dormant.Load() != 0 {
			c.dormant.Store(0)
			c.s.alert.Add(-alertDoze)
		}
	}
}

// doze announces the dormancy, then looks again whether there is reason for it:
// whoever makes work first makes it, then looks whether the clock is dormant.
func (c *clock) doze(now int64) (limit int64) {
	c.s.alert.Add(alertDoze)
	c.dormant.Store(1)
	limit = maxAt
	for _, v := range c.s.vps {
		c.surplus = c.surplus || v.surplus() || v.surplusRunners()
		if modeOf(v.word.load()) != free {
			limit = min(limit, now+stuckLook)
			if v.hasWork() {
				return now
			}
		}
	}
	if c.surplus {
		limit = min(limit, max(c.trimAt, now+int64(c.s.cfg.Period)))
	}
	return limit
}

// tick does a period's work and tells whether anything moves.
func (c *clock) tick(now int64) (moves bool) {
	s := c.s
	count(&c.ticks, 1)
	robbed, verdict, mask := 0, hooks.Quiet, processMask
	awake, tended := 0, 0 // VPs
	polling := s.watching.Load() > 0
	for _, v := range s.vps {
		if n := int(v.robbed.Load()); n > 0 {
			robbed += n
			mask.Clear(v.cpu)
		}
		m := modeOf(v.word.load())
		off := v.off.Load()
		if m == free && !off {
			c.lend(v)
			v.nudge(false) // for what is ready on its nodes, if it is free because of Blocking
			if v.away.Load() > 0 {
				awake++ // then no pause
			}
			continue
		}
		polling = polling || m == held
		awake++
		switch {
		case m == user && v.isTended():
			moves, polling = true, true
			if !v.hasWork() && v.away.Load() == 0 {
				tended++
			}
		case !s.hooks.Empty(hooks.Timer):
			verdict = max(verdict, v.fire(hooks.Timer))
		}
		if off {
			v.clear()
		}
		if m != free && c.police(v, now) {
			moves = true
		}
	}
	if verdict != hooks.Quiet && !polling {
		s.Kick(-1) // somebody who has nothing else to do is to wait for it
	}
	if c.robbed = max(c.robbed, robbed); robbed > c.allowed {
		c.surplus = true
		c.allow(robbed + stepProcs)
	}
	c.avoid(&mask)
	if s.cfg.Watchdog > 0 {
		s.lookForHogs(now)
	}
	if s.audit.Swap(false) {
		s.auditMasks()
	}
	bubbles := s.tickBubbles(now)
	if tended > 0 && tended == awake && robbed == 0 && !bubbles {
		c.tended++
	} else {
		c.tended = 0
	}
	return bubbles || moves || verdict != hooks.Quiet
}

// avoid has the kernel run the clock on the CPUs in mask, those on which no displaced
// thread computes: behind 32 of them it would wake up some milliseconds late. If no
// such CPU is left it may run on all of them.
func (c *clock) avoid(mask *cpuSet) {
	if mask.Count() == 0 {
		*mask = processMask
	}
	if *mask != c.mask && !c.s.cfg.Unbound {
		c.mask = *mask
		_ = unix.SchedSetaffinity(0, mask)
	}
}

// trim gives back what was not needed since the last time: spare LWPs, idle runners, and Ps.
// Raising and lowering GOMAXPROCS stops the world, so both go in steps.
func (c *clock) trim(now int64) {
	c.trimAt = now + int64(c.s.cfg.SpareTime)
	c.surplus = false
	for _, v := range c.s.vps {
		if v.trim() {
			c.surplus = true
		}
		if v.surplusRunners() {
			v.trimRunners()
			c.surplus = true
		}
	}
	need := 0
	if c.robbed > 0 {
		need = c.robbed + stepProcs
	}
	if c.allowed-need >= stepProcs {
		c.allow(need)
	}
	c.robbed = 0
	c.surplus = c.surplus || c.allowed > 0
}

// allow has the Ps raised for displaced threads become n, or leaves that for later. It is done
// on a goroutine of its own: whoever changes GOMAXPROCS waits for the end of a collection that
// runs, which beside displaced threads takes seconds, and meanwhile nobody else would take VPs
// from those who hog them or see that timers are over.
func (c *clock) allow(n int) {
	if !c.changing.CompareAndSwap(false, true) {
		return
	}
	by := n - c.allowed
	c.allowed = n
	c.s.lwps.done.Add(1)
	go func() {
		defer c.s.lwps.done.Done()
		if by > 0 {
			raiseProcs(by)
		} else {
			lowerProcs(-by)
		}
		c.changing.Store(false)
	}()
}

// stepProcs is how many Ps more than needed are raised for displaced threads.
const stepProcs = 4

// lend marks a VP that was left free in Blocking as one that may help others. If
// it is claimed at this moment, whoever claims it may not see the mark.
func (c *clock) lend(v *vp) {
	if !v.idle.Load() && !v.hasWork() {
		v.fallIdle()
		undo := v.n.sleeping.mark(asm.Cycles())
		if modeOf(v.word.load()) != free {
			undo()
			v.riseIdle()
		}
	}
}

// police has a sleeping VP share the work of one whose thread computes on, or
// has a spare LWP seize the VP from a thread that has run for a slice while
// others are ready, or for a period while one of a higher priority is. It tells whether v has moved since the last look or ought
// to.
func (c *clock) police(v *vp, now int64) bool {
	work := v.hasWork()
	if tick := v.ticks(); tick != v.watch.tick {
		v.watch = watch{tick: tick, since: now}
		return true
	}
	if !work {
		return false
	}
	if c.s.alert.Load() >= alertSleep {
		c.s.Kick(-1)
	}
	if (v.pressed() || now-v.watch.since >= int64(c.s.cfg.Slice)) && seizable(v.word.load()) {
		v.call(toSeize, true)
	}
	return true
}

// Timer thread defaults.
const (
	defaultPeriod = time.Millisecond
	defaultSlice  = 5 * time.Millisecond
)
