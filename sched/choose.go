package sched

import (
	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/hooks"
)

// choose takes the next thread of the highest priority that is ready in v's own queue or in a node's above it, but none
// of a lower priority than low. Holder only.
func (v *vp) choose(low rank) *thread {
	if v.disabled.Load() {
		return nil
	}
	b := v.q.present()
	shared := v.sched.placed.Load() != 0
	if shared {
		b |= v.readyAbove()
	}
	if b&cpuBoundRank.bit() != 0 {
		now := asm.Cycles()
		switch over := now-v.cpuBound.at > v.sched.slice; {
		case !over && low == ranks-1 && b == cpuBoundRank.bit() && v.looksFirst():
			return nil
		case over || b&(cpuBoundRank.bit()-1) == 0 && low >= defaultRank:
			v.cpuBound.at = now
			if t := v.chooseRank(cpuBoundRank, shared); t != nil {
				v.chosenRank, v.chosenTick = cpuBoundRank, v.tick+1
				return t
			}
		}
	}
	for ; b != 0; b &= b - 1 {
		r := highest(b)
		if r > low {
			return nil
		}
		v.choices++
		t := v.chooseRank(r, shared)
		if t != nil {
			v.chosenRank, v.chosenTick = r, v.tick+1
			return t
		}
	}
	return nil
}

// chooseRank takes the next thread of rank r from v's own queue, else from its nodes, the innermost first. A node with
// k VPs goes before v's own queue every k+1st time: so all its VPs together look at it about as often as at a queue of
// their own, and no thread waits for ever in any of them.
func (v *vp) chooseRank(r rank, shared bool) *thread {
	if shared {
		for n := v.leaf; n != nil; n = n.up {
			if v.choices%uint32(len(n.vps)+1) == 0 && n.ready.Load()&r.bit() != 0 {
				if t := n.take(r, v, false); t != nil {
					return t
				}
			}
		}
	}
	for v.q.present()&r.bit() != 0 {
		t := v.q.take(r, v.choices)
		if t.mayRun(v) {
			return t
		}
		v.expel(t)
	}
	if shared {
		for n := v.leaf; n != nil; n = n.up {
			if n.ready.Load()&r.bit() != 0 {
				if t := n.take(r, v, true); t != nil {
					return t
				}
			}
		}
	}
	return nil
}

// add queues t, which is ready, in the queue of its class, and reports whether that is a node's.
// Holder only.
func (v *vp) add(t *thread) (placed bool) {
	if n := t.node(); n != nil {
		n.put(t)
		return true
	}
	v.q.add(t)
	return false
}

// requeue queues t, which yields or must leave v. Holder only.
func (v *vp) requeue(t *thread) {
	if n := t.node(); n != nil {
		n.put(t)
	} else if t.mayRun(v) {
		v.q.addYielder(t)
	} else {
		v.expel(t)
	}
}

// cpuBound accounts for the time of a VP's CPU-bound threads: those that were preempted when they ran last
// (cpuBoundRank). Only the holder of the VP uses it.
//
// CPU-bound threads run in the time that other threads leave. But while the Idle hooks have something to poll for, such
// as a message on its way, the idle loop polls first, for as long as on a VP without threads. Then a CPU-bound thread
// runs until another thread is woken. The debt keeps the idle loop to half of the time at most:
//
//	in credit ── the loop has polled a slice longer than they have run ───► in debt: they run at once
//	in debt ──── they have run as long as the loop had polled ────────────► in credit
type cpuBound struct {
	at     int64  // cycles: when a CPU-bound thread was last chosen or preempted
	after  uint32 // vp.choices when the idle loop had polled for long enough
	debt   int64  // cycles that the idle loop has polled, less those that CPU-bound threads have run since
	inDebt bool
}

// looksFirst reports whether the idle loop is to look before a CPU-bound thread runs.
func (v *vp) looksFirst() bool {
	return !v.cpuBound.inDebt && v.choices != v.cpuBound.after && !v.sched.hooks.Silent(hooks.Idle)
}

// putsOff reports whether CPU-bound threads, and nothing else, are ready, while the idle loop looks first.
func (v *vp) putsOff() bool {
	return v.q.present()|v.readyAbove() == cpuBoundRank.bit() && v.inbox.Load() == nil && v.looksFirst()
}

// looked adds d, the cycles that the idle loop has polled while CPU-bound threads were ready, to the debt. If last is
// set the loop does not poll first again before another thread has been chosen.
func (cpu *cpuBound) looked(d, slice int64, choices uint32, last bool) {
	if cpu.debt += max(d, 0); cpu.debt > slice {
		cpu.inDebt = true
	}
	if last {
		cpu.after = choices
	}
}

// ran subtracts from the debt the time for which a CPU-bound thread ran until it was preempted.
func (cpu *cpuBound) ran() {
	now := asm.Cycles()
	if cpu.debt -= max(now-cpu.at, 0); cpu.debt <= 0 {
		cpu.debt, cpu.inDebt = 0, false
	}
	cpu.at = now
}
