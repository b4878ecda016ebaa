package sched

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/sched/stats"
)

// What a scheduler has done: see package stats.
type (
	Stats     = stats.Stats
	VPStats   = stats.VP
	Histogram = stats.Histogram
)

// Stats returns a snapshot. It never blocks, may be called from anywhere, and takes
// about a microsecond per VP. Use Since for the difference of two.
func (s *Scheduler) Stats() Stats {
	now := asm.Cycles()
	st := Stats{
		At: time.Now(), Elapsed: time.Duration(asm.Nanos(now - s.started)), VPs: make([]VPStats, len(s.vps)),
		LWPs: int(s.lwps.n.Load()), MaxLWPs: int(s.lwps.peak.Load()), Short: s.lwps.short.Load(),
		Ticks: atomic.LoadUint64(&s.clock.ticks),
		Total: VPStats{VP: -1, CPU: -1},
	}
	for i, v := range s.vps {
		st.VPs[i] = v.stats()
		st.Total.Add(&st.VPs[i])
	}
	st.Total.Spawned += s.bornOutside.Load()
	st.Alive = s.Alive()
	return st
}

func (v *vp) stats() VPStats {
	n := &v.n
	get := func(p *uint64) uint64 { return atomic.LoadUint64(p) }
	st := VPStats{
		VP: v.id, CPU: v.cpu, State: stateNames[v.mode()],
		Ready: max(v.queued(), 0), Away: int(v.away.Load()), Seized: int(v.seized.Load()), Runners: v.pool.size(),
		Switches: get(&v.tick), Spawned: get(&v.born), Ended: get(&v.ended),
		Tries: get(&n.tries), Steals: get(&n.steals), Items: get(&n.items), Lost: get(&v.stolen),
		Seizures: get(&v.seizures), Parks: get(&n.parks), Rounds: get(&n.rounds), LetGo: get(&v.pool.ended),
		Sleep: time.Duration(asm.Nanos(n.sleeping.read(asm.Cycles()))),
	}
	// Hooks are a part of the time awake, and estimated: read first what is written last.
	hook, spin := int64(get(&n.hook)), int64(get(&n.spin))
	hook = min(hook, spin)
	st.Hook, st.Spin = time.Duration(asm.Nanos(hook)), time.Duration(asm.Nanos(spin-hook))
	for i := range n.wakes {
		st.Wakes[i] = get(&n.wakes[i])
	}
	return st
}

var stateNames = [...]string{free: "free", user: "running", held: "scheduling", lent: "stolen from"}
