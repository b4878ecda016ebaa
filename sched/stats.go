package sched

import (
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// Stats is what a scheduler has done since it started, or between two moments (Since). It is a value and belongs to its
// holder.
//
// Accuracy. Every counter is exact, but is read while the VPs go on: counters of one snapshot may be a few events
// apart. None runs backwards, but Spin may, by what Hook was estimated too low before. Times are taken where a VP
// changes between work and idleness, not at switches, so they cost running threads nothing: Spin is short by up to one
// round of the idle loop for each time a VP found work again, and by up to 2 us for each wait of a thread (it spins);
// Hook is estimated from one round in 16; Sleep of a VP that Blocking left free begins when the clock sees it, 1 ms
// later as a rule. Wakes samples about one wake in 64 (of those by goroutines and timers every one), by the number of
// the waker's switches: a program whose period divides 64 is seen at some of its wakes only.
type Stats struct {
	At      time.Time     `json:"at"`
	Elapsed time.Duration `json:"elapsed_ns"` // what the counters are about
	VPs     []VPStats     `json:"vps"`        // by number
	Total   VPStats       `json:"total"`      // sums; VP and CPU are -1, State is empty
	Alive   int           `json:"alive"`      // threads that have not ended, at At
	LWPs    int           `json:"lwps"`       // OS threads at the moment, spares included
	MaxLWPs int           `json:"max_lwps"`   // the most there have been at once
	Short   uint64        `json:"lwps_short"` // times a VP wanted one and Config.MaxLWPs were in use; one that waits counts once a millisecond
	Ticks   uint64        `json:"ticks"`      // of the clock: at most one in Config.Period

	Threads []ThreadInfo `json:"threads,omitempty"` // of Snapshot alone: the oldest ones
}

// VPStats is the part of one VP. State, Ready, Away, Runners and Seized are of the moment and no counters: Since leaves
// them as they are.
type VPStats struct {
	VP    int    `json:"vp"`
	CPU   int    `json:"cpu"`
	State string `json:"state,omitempty"` // "running" a thread, "scheduling" (or looking for work), "stolen from", "free" (asleep, or its thread is in Blocking)

	Ready   int `json:"ready"`   // threads in its queue; a hint
	Away    int `json:"away"`    // threads of its LWPs that are in Blocking
	Runners int `json:"runners"` // idle ones, goroutines that wait for a thread; a hint
	Seized  int `json:"seized"`  // threads that go on without the VP, which was taken from them in a system call, or, if pinned, after their slice

	Switches uint64 `json:"switches"` // times a thread was put on the VP: started or continued
	Spawned  uint64 `json:"spawned"`  // threads spawned by threads of this VP for this VP; in Total also those from outside
	Ended    uint64 `json:"ended"`    // threads that ended here
	Tries    uint64 `json:"steal_tries"`
	Steals   uint64 `json:"steals"`   // tries that got threads
	Items    uint64 `json:"items"`    // threads stolen from other VPs
	Lost     uint64 `json:"lost"`     // threads that other VPs stole here
	Seizures uint64 `json:"seizures"` // times the VP, or its OS thread, was taken from a thread: preempted after its slice, or in a system call or a pinned wait, while others were ready
	Parks    uint64 `json:"parks"`    // times it went to sleep in the kernel
	Rounds   uint64 `json:"rounds"`   // times the idle hooks were fired
	LetGo    uint64 `json:"let_go"`   // idle runners that have ended because there were too many: see Config.SpareRunners

	Spin  time.Duration `json:"spin_ns"`  // awake and looking for work, outside of hooks
	Hook  time.Duration `json:"hook_ns"`  // in idle hooks
	Sleep time.Duration `json:"sleep_ns"` // asleep, nothing to run
	Wakes Histogram     `json:"wakes"`    // from a thread's being woken to its running
}

// Idle returns how long the VP had no thread to run: Spin, Hook and Sleep.
func (vst *VPStats) Idle() time.Duration { return vst.Spin + vst.Hook + vst.Sleep }

// each calls f for each counter of vst and of w, times included.
func (vst *VPStats) each(w *VPStats, f func(a, b uint64) uint64) {
	for _, p := range [...][2]*uint64{
		{&vst.Switches, &w.Switches},
		{&vst.Spawned, &w.Spawned},
		{&vst.Ended, &w.Ended},
		{&vst.Tries, &w.Tries},
		{&vst.Steals, &w.Steals},
		{&vst.Items, &w.Items},
		{&vst.Lost, &w.Lost},
		{&vst.Seizures, &w.Seizures},
		{&vst.Parks, &w.Parks},
		{&vst.Rounds, &w.Rounds},
		{&vst.LetGo, &w.LetGo},
	} {
		*p[0] = f(*p[0], *p[1])
	}
	for _, p := range [...][2]*time.Duration{{&vst.Spin, &w.Spin}, {&vst.Hook, &w.Hook}, {&vst.Sleep, &w.Sleep}} {
		*p[0] = time.Duration(f(uint64(*p[0]), uint64(*p[1])))
	}
	for i := range vst.Wakes {
		vst.Wakes[i] = f(vst.Wakes[i], w.Wakes[i])
	}
}

// add adds everything, for the total.
func (vst *VPStats) add(w *VPStats) {
	vst.each(w, func(a, b uint64) uint64 { return a + b })
	vst.Ready += w.Ready
	vst.Away += w.Away
	vst.Seized += w.Seized
	vst.Runners += w.Runners
}

// Since returns what happened between an earlier snapshot of the same scheduler and s: counters and times are
// differences, Elapsed is the time between the two, what is of the moment stays.
func (st Stats) Since(earlier Stats) Stats {
	minus := func(a, b uint64) uint64 {
		if a < b {
			return 0 // an estimate that was corrected, or another scheduler's
		}
		return a - b
	}
	st.Elapsed -= earlier.Elapsed
	st.Ticks = minus(st.Ticks, earlier.Ticks)
	vps := make([]VPStats, len(st.VPs))
	for i := range vps {
		vps[i] = st.VPs[i]
		if i < len(earlier.VPs) {
			vps[i].each(&earlier.VPs[i], minus)
		}
	}
	st.VPs = vps
	st.Total.each(&earlier.Total, minus)
	return st
}

// Load returns the share of the time, 0 to 1, for which the VP ran threads (or switched between them).
func (st *Stats) Load(vp int) float64 {
	if st.Elapsed <= 0 || vp < 0 || vp >= len(st.VPs) {
		return 0
	}
	return min(max(1-float64(st.VPs[vp].Idle())/float64(st.Elapsed), 0), 1)
}

// Stats returns a snapshot. It never blocks, may be called from anywhere, and takes about a microsecond per VP. Use
// Since for the difference of two.
func (s *Scheduler) Stats() Stats {
	now := asm.Cycles()
	st := Stats{
		At: time.Now(), Elapsed: time.Duration(asm.Nanos(now - s.startedAt)), VPs: make([]VPStats, len(s.vps)),
		LWPs: int(s.lwps.alive.Load()), MaxLWPs: int(s.lwps.peak.Load()), Short: s.lwps.shortages.Load(),
		Ticks: atomic.LoadUint64(&s.clock.ticks),
		Total: VPStats{VP: -1, CPU: -1},
	}
	for i, v := range s.vps {
		st.VPs[i] = v.stats()
		st.Total.add(&st.VPs[i])
	}
	st.Total.Spawned += s.spawnedOutside.Load()
	st.Alive = s.Alive()
	return st
}

// Snapshot is Stats together with the oldest threads, so many at most; 0: without.
func (s *Scheduler) Snapshot(threads int) Stats {
	st := s.Stats()
	if threads > 0 {
		all := s.Threads()
		st.Threads = all[:min(len(all), threads)]
	}
	return st
}

func (v *vp) stats() VPStats {
	n := &v.counts
	get := func(p *uint64) uint64 { return atomic.LoadUint64(p) }
	st := VPStats{
		VP: v.id, CPU: v.cpu, State: stateNames[v.mode()],
		Ready: max(v.queueLen(), 0), Away: int(v.numBlocking.Load()), Seized: int(v.numSeized.Load()), Runners: v.pool.size(),
		Switches: get(&v.tick), Spawned: get(&v.spawned), Ended: get(&v.ended),
		Tries: get(&n.tries), Steals: get(&n.steals), Items: get(&n.items), Lost: get(&v.stolen),
		Seizures: get(&v.seizures), Parks: get(&n.parks), Rounds: get(&n.rounds), LetGo: get(&v.pool.trimmed),
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

var stateNames = [...]string{vpFree: "free", vpUser: "running", vpHeld: "scheduling", vpBorrowed: "stolen from"}
