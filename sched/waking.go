package sched

import "github.com/pm2-go/pm2/asm"

// post makes t ready from outside: from a goroutine, from an LWP without v, and from an idle hook, whose base has v but is
// no thread (Visit).
func (v *vp) post(t *thread) {
	if n := t.node(); n != nil {
		n.put(t)
		return
	}
	v.push(t)
	if r := t.class.load().rank(); r < defaultRank {
		v.urgent.Or(r.bit())
	}
	v.rouseIfDue(v.robbed.Load() != 0)
}

// push puts t on the inbox.
func (v *vp) push(t *thread) {
	for {
		t.link = v.inbox.Load()
		if v.inbox.CompareAndSwap(t.link, t) {
			break
		}
	}
}

// ready enqueues t. Holder only. If another VP sleeps, it may have to be woken
// to take a share.
func (v *vp) ready(t *thread, fresh bool) {
	if t.class.load() != 0 {
		if v.add(t) {
			return
		}
	} else {
		v.q.push(t)
	}
	if v.sched.wants.Load() != 0 {
		v.answer(t, fresh)
	}
}

// unanswered tells whether v need not answer a wake of one of its threads: no VP sleeps, nor the clock; or the clock does not,
// and v has looked a few wakes ago and may not wake a VP yet. Holder only.
func (v *vp) unanswered() bool {
	w := v.sched.wants.Load()
	if w == 0 || w&wantsClock != 0 || v.unhelped == 0 {
		return w == 0
	}
	v.unhelped--
	return true
}

// answer is for a holder that has made t ready while the clock or a VP sleeps, or a VP requests a thread.
func (v *vp) answer(t *thread, fresh bool) {
	s := v.sched
	s.rouseClock()
	if w := s.wants.Load(); w < wantsVP || !fresh && v.q.total() <= 1 {
		return
	} else if w >= wantsThread && fresh {
		v.grant()
	} else if t.mayMove(v) {
		v.rouseHelper()
	}
}

// wakesPerLook: a VP that may not wake another one yet looks at the time again after so many wakes: reading it takes
// a sixth of a wake.
const wakesPerLook = 16

// rouseHelper wakes a sleeping VP, at a bounded rate: one that finds nothing to
// steal makes the pause longer, up to helpMax.
func (v *vp) rouseHelper() {
	now := asm.Cycles()
	if now < v.helpAt {
		v.unhelped = wakesPerLook
		return
	}
	v.helpAt = now + v.sched.helpGap.Load()
	v.sched.Kick(-1)
}

// release gives v away, which l has. Then it looks again: a post may have missed it.
func (v *vp) release(l *lwp) {
	v.cur = &v.vacant
	v.word.release(l.id)
	v.rouseIfDue(false)
}

// claim takes v for l, if it is free; c runs on it from now on.
func (v *vp) claim(l *lwp, c *co) bool {
	if v.off.Load() || !v.word.claim(l.id) {
		return false
	}
	v.cur = c
	v.n.sleeping.end()
	v.wakeUp()
	v.sched.rouseClock()
	return true
}

// fallAsleep marks v as one that may be woken to help others: by the holder that
// is about to release it, or by the clock, which finds it free because its thread
// is in Blocking.
func (v *vp) fallAsleep() {
	if v.idle.fallAsleep() {
		v.sched.wants.Add(wantsVP)
		if v.off.Load() {
			v.wakeUp() // after the mark, as DisableVP: one of us takes it back
		}
	}
}

// wakeUp takes the mark back.
func (v *vp) wakeUp() {
	if v.idle.wakeUp() {
		v.sched.wants.Add(-wantsVP)
	}
}

// rouseIfDue sees to it that a free VP with work, or one that was kicked, gets a holder: it wakes a spare,
// which claims by itself when it runs. Spares sleep as SCHED_BATCH: waking one
// does not preempt the LWP now on this CPU. So a thread in Blocking goes on;
// the spare runs when, and only if, the call really blocks. A robbed thread on
// this CPU is to be preempted, though.
func (v *vp) rouseIfDue(preempt bool) {
	if v.off.Load() {
		v.clear()
		return
	}
	switch m := v.mode(); {
	case m == free && (v.hasWork() || v.idle.kicked()):
		v.rouse(toClaim, preempt || v.idle.asleep())
	case m != free && v.sched.clockAsleep():
		v.sched.clock.wake(roused) // the holder may be stuck: the clock has to look
	case m == user && v.hogged():
		v.sched.clock.press()
	}
}

// rouse wakes a spare, or makes one, unless one is on its way.
func (v *vp) rouse(o order, preempt bool) {
	if !v.idle.rouse() {
		return
	}
	l := v.idle.pop()
	if l == nil {
		v.sched.newLWP(v)
		return
	}
	if preempt {
		l.unbatch()
	}
	l.rouse(o)
}

// Kick wakes VP number vp, or any that no LWP holds if vp < 0 (it sleeps, or its
// thread is in Blocking), so that it fires its idle hooks and looks for work. A
// VP whose thread runs stays as it is, but its timer ticks from now on, even if
// the clock was asleep.
func (s *Scheduler) Kick(vp int) {
	if vp >= 0 {
		s.vps[vp].kick()
		return
	}
	for _, v := range s.vps {
		if v.mode() == free && !v.off.Load() {
			v.kick()
			return
		}
	}
	s.rouseClock()
}

// kick: a VP in user mode fires its idle hooks before it sleeps, and needs no more
// than the clock; one that is held may have fired them for the last time, or belong to
// a thread in an operation, which computes next.
func (v *vp) kick() {
	if v.mode() == user || v.off.Load() {
		v.sched.rouseClock()
		return
	}
	v.idle.kick() // also if it is roused: the spare on its way takes the kick after it has arrived
	if v.mode() == free {
		v.rouse(toClaim, true)
	} else {
		v.sched.rouseClock()
	}
}
