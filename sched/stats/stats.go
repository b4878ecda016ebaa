package stats

import "time"

// Stats is what a scheduler has done since it started, or between two moments
// (Since). It is a value and belongs to its holder.
//
// Accuracy. Every counter is exact, but is read while the VPs go on: counters of
// one snapshot may be a few events apart. None runs backwards, but Spin may, by what
// Hook was estimated too low before. Times are
// taken where a VP changes between work and idleness, not at switches, so they
// cost running threads nothing: Spin is short by up to one round of the idle loop
// for each time a VP found work again, and by up to 2 us for each wait of a thread
// (it lingers); Hook is estimated from one round in 16;
// Sleep of a VP that sched.Blocking left free begins when the clock sees it, 1 ms
// later as a rule. Wakes samples about one wake in 64 (of those by goroutines and
// timers every one), by the number of the waker's switches: a program whose period
// divides 64 is seen at some of its wakes only.
type Stats struct {
	At      time.Time     `json:"at"`
	Elapsed time.Duration `json:"elapsed_ns"` // what the counters are about
	VPs     []VP          `json:"vps"`        // by number
	Total   VP            `json:"total"`      // sums; VP and CPU are -1, State is empty
	Alive   int           `json:"alive"`      // threads that have not ended, at At
	LWPs    int           `json:"lwps"`       // OS threads at the moment, spares included
	MaxLWPs int           `json:"max_lwps"`   // the most there have been at once
	Short   uint64        `json:"lwps_short"` // times a VP wanted one and sched.Config.MaxLWPs were in use; one that waits counts once a millisecond
	Ticks   uint64        `json:"ticks"`      // of the clock: at most one in sched.Config.Period
}

// VP is the part of one VP. State, Ready, Away, Runners and Seized are of the moment
// and no counters: Since leaves them as they are.
type VP struct {
	VP    int    `json:"vp"`
	CPU   int    `json:"cpu"`
	State string `json:"state,omitempty"` // "running" a thread, "scheduling" (or looking for work), "stolen from", "free" (asleep, or its thread is in sched.Blocking)

	Ready   int `json:"ready"`   // threads in its queue; a hint
	Away    int `json:"away"`    // threads of its LWPs that are in sched.Blocking
	Runners int `json:"runners"` // idle ones, goroutines that wait for a thread; a hint
	Seized  int `json:"seized"`  // threads that go on without the VP, which was taken from them in a system call, or, if pinned, after their slice

	Switches uint64 `json:"switches"` // times a thread was put on the VP: started or continued
	Spawned  uint64 `json:"spawned"`  // threads spawned by threads of this VP for this VP; in Total also those from outside
	Ended    uint64 `json:"ended"`    // threads that ended here
	Tries    uint64 `json:"steal_tries"`
	Steals   uint64 `json:"steals"`   // tries that got threads
	Items    uint64 `json:"items"`    // threads stolen from other VPs
	Lost     uint64 `json:"lost"`     // threads that other VPs stole here
	Seizures uint64 `json:"seizures"` // times the VP was taken from a thread: preempted after its slice, or in a system call or a pinned wait, while others were ready
	Parks    uint64 `json:"parks"`    // times it went to sleep in the kernel
	Rounds   uint64 `json:"rounds"`   // times the idle hooks were fired
	LetGo    uint64 `json:"let_go"`   // idle runners that have ended because there were too many: see sched.Config.SpareRunners

	Spin  time.Duration `json:"spin_ns"`  // awake and looking for work, outside of hooks
	Hook  time.Duration `json:"hook_ns"`  // in idle hooks
	Sleep time.Duration `json:"sleep_ns"` // asleep, nothing to run
	Wakes Histogram     `json:"wakes"`    // from a thread's being woken to its running
}

// Idle returns how long the VP had no thread to run: Spin, Hook and Sleep.
func (v *VP) Idle() time.Duration { return v.Spin + v.Hook + v.Sleep }

// each calls f for each counter of v and of w, times included.
func (v *VP) each(w *VP, f func(a, b uint64) uint64) {
	for _, p := range [...][2]*uint64{
		{&v.Switches, &w.Switches},
		{&v.Spawned, &w.Spawned},
		{&v.Ended, &w.Ended},
		{&v.Tries, &w.Tries},
		{&v.Steals, &w.Steals},
		{&v.Items, &w.Items},
		{&v.Lost, &w.Lost},
		{&v.Seizures, &w.Seizures},
		{&v.Parks, &w.Parks},
		{&v.Rounds, &w.Rounds},
		{&v.LetGo, &w.LetGo},
	} {
		*p[0] = f(*p[0], *p[1])
	}
	for _, p := range [...][2]*time.Duration{{&v.Spin, &w.Spin}, {&v.Hook, &w.Hook}, {&v.Sleep, &w.Sleep}} {
		*p[0] = time.Duration(f(uint64(*p[0]), uint64(*p[1])))
	}
	for i := range v.Wakes {
		v.Wakes[i] = f(v.Wakes[i], w.Wakes[i])
	}
}

// Add adds everything, for the total.
func (v *VP) Add(w *VP) {
	v.each(w, func(a, b uint64) uint64 { return a + b })
	v.Ready += w.Ready
	v.Away += w.Away
	v.Seized += w.Seized
	v.Runners += w.Runners
}

// Since returns what happened between an earlier snapshot of the same scheduler
// and s: counters and times are differences, Elapsed is the time between the two,
// what is of the moment stays.
func (s Stats) Since(earlier Stats) Stats {
	minus := func(a, b uint64) uint64 {
		if a < b {
			return 0 // an estimate that was corrected, or another scheduler's
		}
		return a - b
	}
	s.Elapsed -= earlier.Elapsed
	s.Ticks = minus(s.Ticks, earlier.Ticks)
	vps := make([]VP, len(s.VPs))
	for i := range vps {
		vps[i] = s.VPs[i]
		if i < len(earlier.VPs) {
			vps[i].each(&earlier.VPs[i], minus)
		}
	}
	s.VPs = vps
	s.Total.each(&earlier.Total, minus)
	return s
}

// Load returns the share of the time, 0 to 1, for which the VP ran threads (or
// switched between them).
func (s *Stats) Load(vp int) float64 {
	if s.Elapsed <= 0 || vp < 0 || vp >= len(s.VPs) {
		return 0
	}
	return min(max(1-float64(s.VPs[vp].Idle())/float64(s.Elapsed), 0), 1)
}
