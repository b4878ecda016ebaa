package sched

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
	"github.com/pm2-go/pm2/sched/direct"
	"github.com/pm2-go/pm2/sched/internal/machine"
)

// clock is an OS thread of the scheduler's own, because a VP whose thread computes does nothing else. Every period the
// clock fires the timer hooks in the name of each VP that is awake, and takes VPs from threads that keep them too long;
// it ends timed waits when their time is over. A thread that polls fires the timer hooks of its VP itself (poll.go).
// When nothing moves the clock falls asleep until a thread becomes ready, or the next timed wait is over. IDLE.md draws
// its states. The clock's thread alone uses the fields that are not atomic.
type clock struct {
	sched      *Scheduler
	word       atomic.Uint32 // futex: what the clock was woken for
	asleep     bool          // wantsClock is in Scheduler.wants
	wakeAt     atomic.Int64  // ns: the clock sleeps until then; 0: it is awake. See hurry
	ticks      uint64        // so far
	trimAt     int64         // ns: when to call trim next
	surplus    bool          // the last trim has left spares or idle runners that may end
	trustTime  int64         // ns: for how long the clock may leave the VPs to the threads that poll there; 0: no time
	lookGap    int64         // ns: until the next look between two ticks; 0: none
	sleepState sleepState
}

// vpWatch is what the clock remembers of a VP.
type vpWatch struct {
	tick         uint32 // vp.tick at the last look, its lower half
	since        int64  // ns: when tick took this value
	reported     bool   // the watchdog has reported the thread
	stoppedLooks int    // looks in a row that found the thread stopped, though the clock had not asked it to
}

const (
	// sleepAfter is how many periods without any movement pass before the clock falls asleep.
	sleepAfter = 20
	// stuckLook bounds that sleep, in ns, while a thread holds a VP without moving: it may compute, and its hooks may
	// find something.
	stuckLook = 50_000_000
)

// What the clock is woken for: the values of clock.word.
const (
	moved   = 1 // a thread became ready, or a VP was claimed or kicked
	hurried = 2 // a timer was started that is over before wakeAt
	pressed = 3 // a thread became ready behind one that was preempted when it ran last
)

// press ends the clock's wait between two ticks. A waker calls it when it has made a thread ready on a VP that runs a
// CPU-bound thread: the clock preempts that soon rather than at the next tick.
func (ck *clock) press() {
	if ck.word.CompareAndSwap(0, pressed) {
		futexWake(&ck.word)
	}
}

// wake ends the clock's wait, whatever it waits for.
func (ck *clock) wake(why uint32) {
	ck.word.Store(why)
	futexWake(&ck.word)
}

// clockAsleep reports whether the clock is asleep.
func (s *Scheduler) clockAsleep() bool { return s.wants.Load()&wantsClock != 0 }

// wakeClock wakes the clock if it is asleep, so that the Timer hooks fire again.
func (s *Scheduler) wakeClock() {
	if s.clockAsleep() {
		s.clock.wake(moved)
	}
}

// hurry makes sure that the clock is awake at time at, in ns. The caller has lowered the next of a wheel to at; hurry
// then reads wakeAt. The clock stores wakeAt, then reads next. So one of the two sees what the other has written.
func (ck *clock) hurry(at int64) {
	for {
		until := ck.wakeAt.Load()
		if until <= at {
			return // it is awake, and will look; or it will wake in time
		}
		if ck.wakeAt.CompareAndSwap(until, at) { // a caller with a later time leaves it to us
			ck.word.CompareAndSwap(0, hurried)
			futexWake(&ck.word)
			return
		}
	}
}

// main is the clock's thread. A Timer hook that ends its goroutine does not end the clock: another goroutine goes on.
func (ck *clock) main() {
	if isDirect {
		runtime.LockOSThread() // it exits locked, so the OS thread ends with its timer slack and policy
	}
	defer func() {
		if !ck.sched.stopping.Load() {
			go ck.main() // a Timer hook has ended the goroutine
			return
		}
		ck.sched.closeTimers()
		ck.sched.lwps.done.Done()
	}()
	if isDirect {
		exactTimers()                              // else the kernel may wake it 50 us late
		ck.sched.setPolicy(0, schedOther, sliceVP) // a short slice: it has little to do, but at once
	}
	period := int64(ck.sched.cfg.Period)
	still := 0
	ticked := nanotime()
	ck.trimAt = ticked + int64(ck.sched.cfg.SpareTime)
	for !ck.sched.stopping.Load() {
		now := nanotime()
		next := ck.sched.fireTimers(now)
		if now-ticked >= period*3/4 {
			ticked = now
			if still++; ck.tick(now) {
				still = 0
			}
			if now >= ck.trimAt {
				ck.trim(now)
			}
		} else if ck.lookGap > 0 {
			ck.look(now)
		}
		limit := ticked + max(period, ck.trustTime)
		if still > sleepAfter {
			limit = ck.fallAsleep(ticked)
		}
		if ck.lookGap > 0 {
			limit = min(limit, now+ck.lookGap)
		}
		ck.wakeAt.Store(min(limit, next))
		if wait := min(limit, ck.sched.nextTimer()) - nanotime(); wait > 0 && ck.word.Load() == 0 {
			futexWaitFor(&ck.word, &ck.sleepState, wait)
		}
		ck.wakeAt.Store(0)
		switch ck.word.Swap(0) {
		case moved:
			still = 0
		case pressed:
			still, ck.lookGap = 0, shortGap
		}
		if ck.asleep {
			ck.asleep = false
			ck.sched.wants.Add(-wantsClock)
		}
	}
}

// fallAsleep marks the clock asleep, then looks again whether it may sleep, and returns until when. An LWP that makes a
// thread ready does so first, then reads Scheduler.wants: one of the two sees the other.
func (ck *clock) fallAsleep(now int64) (limit int64) {
	ck.asleep = true
	ck.sched.wants.Add(wantsClock)
	limit = maxAt
	for _, v := range ck.sched.vps {
		ck.surplus = ck.surplus || v.idle.surplus() || v.surplusRunners()
		if v.mode() != vpFree || v.numBlocking.Load() > 0 {
			limit = min(limit, now+stuckLook)
			if v.hasWork() {
				return now
			}
		}
	}
	if ck.surplus {
		limit = min(limit, max(ck.trimAt, now+int64(ck.sched.cfg.Period)))
	}
	return limit
}

// tick is the work of a period: it fires the Timer hooks and inspects each VP. It reports whether anything moves, so
// that the clock stays awake.
func (ck *clock) tick(now int64) (moves bool) {
	s := ck.sched
	count(&ck.ticks, 1)
	verdict := hooks.Quiet
	trust, cycles := int64(maxAt), asm.Cycles()
	polling := s.inSleeper.Load() > 0
	for _, v := range s.vps {
		m := v.mode()
		off := v.disabled.Load()
		if v.numBlocking.Load() > 0 {
			ck.lookAlone(v)
		}
		if m == vpFree && !off {
			ck.offer(v)
			v.wakeIfDue(false) // for what is ready on its nodes, if it is free because of Blocking
			if v.numBlocking.Load() > 0 {
				trust = 0
			}
			continue
		}
		polling = polling || m == vpHeld
		polls, ns := false, int64(0)
		if m == vpUser {
			polls, ns = v.polling.trust(cycles, int64(s.cfg.Period))
		}
		if polls {
			moves, polling = true, true
		} else if !s.hooks.Empty(hooks.Timer) {
			verdict = max(verdict, v.fire(hooks.Timer))
		}
		if v.hasWork() || v.numBlocking.Load() > 0 {
			ns = 0
		}
		trust = min(trust, ns)
		if off {
			v.clear()
		}
		if m != vpFree && ck.inspect(v, now) {
			moves = true
		}
	}
	if verdict != hooks.Quiet && !polling {
		s.Kick(-1) // an idle VP waits in the kernel for what the hooks have pending
	}
	if s.cfg.Watchdog > 0 {
		s.runWatchdog(now)
	}
	plans := s.plan(now)
	if ck.trustTime = trust; trust == maxAt || plans { // all sleep, or policies want their ticks
		ck.trustTime = 0
	}
	return plans || moves || verdict != hooks.Quiet
}

// look inspects all VPs between two ticks.
func (ck *clock) look(now int64) {
	ck.lookGap *= 2
	if ck.lookGap > int64(ck.sched.cfg.Period)/2 {
		ck.lookGap = 0
	}
	for _, v := range ck.sched.vps {
		if v.numBlocking.Load() > 0 {
			ck.lookAlone(v)
		}
		if v.mode() != vpFree {
			ck.inspect(v, now)
		}
	}
}

const (
	shortGap = 20_000 // ns: until the next look after the clock has found a thread stopped, and after a press
	waitGap  = 30_000 // ns: until the next look after the clock has found a thread that waited in Go
)

// trim ends spare LWPs and idle runners that were not needed since the last call. If the program has set GOMAXPROCS
// meanwhile it raises that by what the LWPs hold.
func (ck *clock) trim(now int64) {
	ck.trimAt = now + int64(ck.sched.cfg.SpareTime)
	go machine.HeedProcs() // it may stop the world
	ck.surplus = false
	for _, v := range ck.sched.vps {
		if v.idle.trim() {
			ck.surplus = true
		}
		if v.surplusRunners() {
			v.trimRunners()
			ck.surplus = true
		}
	}
}

// offer marks a VP as asleep that is free because its thread is in Blocking: other VPs may wake it to help. An LWP
// that claims the VP at this moment may not see the mark, so offer looks again and takes it back.
func (ck *clock) offer(v *vp) {
	if !v.idle.asleep() && !v.hasWork() {
		v.fallAsleep()
		undo := v.counts.sleeping.mark(asm.Cycles())
		if v.mode() != vpFree {
			undo()
			v.wakeUp()
		}
	}
}

// lookAlone looks at the threads of v that are in Blocking. If one waits in Go its OS thread
// becomes a spare.
func (ck *clock) lookAlone(v *vp) {
	for _, l := range ck.sched.lwps.list() {
		if l.blockingCo.Load() != nil && l.vpHint() == v {
			l.takeBackAlone()
		}
	}
}

// inspect looks at the thread that holds v, and takes v or its OS thread from it if that keeps it too long: see
// watch.go. If others are ready behind it, inspect wakes a sleeping VP to share them. It reports whether v has moved
// since the last look, or has ready threads.
func (ck *clock) inspect(v *vp, now int64) (moves bool) {
	w := &v.watch
	work := v.hasWork()
	if tick := v.ticks(); tick != w.tick {
		w.tick, w.since, w.reported, w.stoppedLooks = tick, now, false, 0
		moves = true
	}
	x := v.current()
	if x.isBase() {
		return moves || work
	}
	status := direct.Status(x.gHint())
	if status != direct.Preempted {
		w.stoppedLooks = 0
	}
	switch status {
	case direct.Waiting:
		if v.takeBack(x) {
			ck.lookGap = waitGap
			return true
		}
	case direct.Preempted:
		if v.pursuit.target.Load() == x {
			break // the stopper follows it
		}
		if w.stoppedLooks++; ck.sched.preempts && w.stoppedLooks > 1 && v.claimStopped(x) {
			return true
		}
		ck.lookGap = shortGap
	}
	if !work || moves {
		return moves
	}
	if ck.sched.wants.Load() >= wantsVP {
		ck.sched.Kick(-1)
	}
	over := now-w.since >= int64(ck.sched.cfg.Slice) || v.outranked()
	switch {
	case !isDirect:
		if over {
			v.detach()
		}
	case status == direct.Syscall && now-w.since >= int64(ck.sched.cfg.Period) || status == direct.Waiting && over:
		v.wakeSpare(toSeize, true)
	case status == direct.Running && over && ck.sched.preempts && v.pursuit.target.Load() == nil:
		ck.sched.stopper.pursue(v, x, now)
	}
	return true
}

var epoch = time.Now()

// nanotime is the monotonic clock, ns since the program began.
func nanotime() int64 { return int64(time.Since(epoch)) }

// Defaults of the clock.
const (
	defaultPeriod = time.Millisecond
	defaultSlice  = 5 * time.Millisecond
)
