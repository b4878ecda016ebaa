package sched

import "github.com/pm2-go/pm2/asm"

// post makes t ready from outside: from a goroutine, from an LWP without v, and from an idle hook, whose base has v but
// is no thread (Visit).
func (v *vp) post(t *thread) {
	if n := t.node(); n != nil {
		n.put(t)
		return
	}
	v.push(t)
	if r := t.class.load().rank(); r < defaultRank {
		v.urgent.Or(r.bit())
	}
	v.wakeIfDue(v.numSeized.Load() != 0)
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

// ready queues t, which is fresh if it was spawned just now. If the clock or a VP sleeps, or a VP requests a thread,
// ready wakes it or hands a thread over. Holder only.
func (v *vp) ready(t *thread, fresh bool) {
	if t.class.load() != 0 {
		if v.add(t) {
			return
		}
	} else {
		v.q.push(t)
	}
	if v.sched.wants.Load() != 0 {
		v.serveWants(t, fresh)
	}
}

// mayIgnoreWants reports whether v may skip serveWants when it makes a thread ready. It may if neither a VP nor the
// clock sleeps and no VP requests a thread. It may also if the clock is awake and v found less than wakesPerLook wakes
// ago that it is too early to wake another VP. Holder only.
func (v *vp) mayIgnoreWants() bool {
	w := v.sched.wants.Load()
	if w == 0 || w&wantsClock != 0 || v.wakesToLook == 0 {
		return w == 0
	}
	v.wakesToLook--
	return true
}

// serveWants is called when t has been made ready while the clock or a VP sleeps, or a VP requests a thread: it wakes
// the clock, and grants the request or wakes a VP. Holder only.
func (v *vp) serveWants(t *thread, fresh bool) {
	s := v.sched
	s.wakeClock()
	if w := s.wants.Load(); w < wantsVP || !fresh && v.q.total() <= 1 {
		return
	} else if w >= wantsThread && fresh {
		v.grant()
	} else if t.mayMove(v) {
		v.wakeHelper()
	}
}

// wakesPerLook is after how many wakes a VP that may not wake another one yet reads the time again. Reading it takes a
// sixth of a wake. The figure for which it is there: the ring of 100, 2 VPs (docs/decisions/mechanisms.md).
const wakesPerLook = 16

// wakeHelper wakes a sleeping VP, which may steal, once in helpGap at most. A VP that was woken and found nothing to
// steal doubles helpGap, up to helpMax. The figure for which the doubling is there: the ring of 100, 2 VPs
// (docs/decisions/mechanisms.md).
func (v *vp) wakeHelper() {
	now := asm.Cycles()
	if now < v.helpAt {
		v.wakesToLook = wakesPerLook
		return
	}
	v.helpAt = now + v.sched.helpGap.Load()
	v.sched.Kick(-1)
}

// release makes v, which l holds, free. Then it looks at v's inbox again: a poster that saw a holder woke no LWP.
func (v *vp) release(l *lwp) {
	v.cur = &v.vacant
	v.word.release(l.id)
	v.wakeIfDue(false)
}

// claim takes v for l if v is free. From then on c runs on v.
func (v *vp) claim(l *lwp, c *co) bool {
	if v.disabled.Load() || !v.word.claim(l.id) {
		return false
	}
	v.cur = c
	v.counts.sleeping.end()
	v.wakeUp()
	v.sched.wakeClock()
	return true
}

// fallAsleep marks v as asleep: other VPs may wake it to help. The holder calls it before it
// releases v. The clock calls it for a VP that is free because its thread is in Blocking.
func (v *vp) fallAsleep() {
	if v.idle.fallAsleep() {
		v.sched.wants.Add(wantsVP)
		if v.disabled.Load() {
			v.wakeUp() // DisableVP sets disabled, then clears the mark: one of the two clears it
		}
	}
}

// wakeUp takes back the mark that fallAsleep has set.
func (v *vp) wakeUp() {
	if v.idle.wakeUp() {
		v.sched.wants.Add(-wantsVP)
	}
}

// wakeIfDue gives a free VP that has work, or was kicked, a holder: it wakes a spare, which claims the VP when it runs.
// Spares sleep as SCHED_BATCH, so waking one does not preempt the LWP that runs on this CPU. A thread in Blocking thus
// goes on; the spare runs only if the call really blocks. If preempt is set the spare preempts: post sets it while a
// thread whose VP was seized may compute on this CPU.
func (v *vp) wakeIfDue(preempt bool) {
	if v.disabled.Load() {
		v.clear()
		return
	}
	switch m := v.mode(); {
	case m == vpFree && (v.hasWork() || v.idle.kicked()):
		v.wakeSpare(toClaim, preempt || v.idle.asleep())
	case m != vpFree && v.sched.clockAsleep():
		v.sched.clock.wake(moved) // the holder may be stuck: the clock has to look
	case m == vpUser && v.runsCPUBound():
		v.sched.clock.press()
	}
}

// wakeSpare wakes a spare, or makes one, unless one is on its way.
func (v *vp) wakeSpare(o spareOrder, preempt bool) {
	if !v.idle.beginWaking() {
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
	l.wakeWith(o)
}

// Kick wakes VP number vp, so that it fires its idle hooks and looks for work. If vp < 0 it wakes any VP that no LWP
// holds: one that sleeps, or whose thread is in Blocking. A VP whose thread runs goes on; Kick then wakes the clock,
// which fires the VP's timer hooks.
func (s *Scheduler) Kick(vp int) {
	if vp >= 0 {
		s.vps[vp].kick()
		return
	}
	for _, v := range s.vps {
		if v.mode() == vpFree && !v.disabled.Load() {
			v.kick()
			return
		}
	}
	s.wakeClock()
}

// kick is Kick of v. A VP in user mode fires its idle hooks before it sleeps; until then the clock fires
// its timer hooks. A held VP may have fired its idle hooks for the last time before it sleeps, or its
// thread may be in an operation and compute next: it gets both the kick and the clock.
func (v *vp) kick() {
	if v.mode() == vpUser || v.disabled.Load() {
		v.sched.wakeClock()
		return
	}
	v.idle.kick() // also while an LWP is on its way: it takes the kick after it has arrived
	if v.mode() == vpFree {
		v.wakeSpare(toClaim, true)
	} else {
		v.sched.wakeClock()
	}
}
