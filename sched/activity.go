package sched

// Idle tells whether VP number vp has nothing to do, and if so, whether it is awake: its
// idle loop looks for work at this moment, and fires the idle hooks. One that sleeps
// has to be kicked first; one that is disabled, or whose thread is away in a blocking
// call, is not idle. A look, no promise: a VP that is between two threads may be
// taken for an idle one. Three loads; may be called from anywhere.
func (s *Scheduler) Idle(vp int) (idle, awake bool) {
	v := s.vps[vp]
	switch v.mode() {
	case free:
		return !v.off.Load() && v.away.Load() == 0 && !v.hasOwn(), false
	case held:
		idle = !v.off.Load() && !v.hasOwn()
		return idle, idle
	}
	return false, false
}
