package pioman

// Offload submits a task to the nearest idle core (Trahay & Denis, 2009, section IV.B), so that the caller goes on with
// its computation while that core does the work: into the leaf of the nearest virtual processor that is idle and awake.
// With wake, for work that takes tens of microseconds, one that sleeps is woken if none is awake, by a system call of some
// microseconds (docs/decisions/offload.md). If there is none it goes to the queue of the root, as Submit does: then the
// caller's own wait or hooks run it, if no other poller does before. Of a task with a CPU set only processors of the set
// are asked.
//
// Offload returns that processor's number; -1 if there was none. It costs as much as Submit and one
// more cache line. Otherwise it is like Submit.
func (e *Engine) Offload(t *Task, wake bool) (vp int, err error) {
	if err := e.claim(t); err != nil {
		return -1, err
	}
	tr, a := e.tree.Load(), e.attached.Load()
	vp, awake := -1, false
	if a != nil {
		vp, awake = tr.nearestIdle(a.s, a.s.CurrentVP(), t.cpus)
	}
	if vp < 0 || !awake && !wake {
		e.put(t, tr.where(t), tr)
		return -1, nil
	}
	e.put(t, tr.ways[vp][0].queue, tr)
	if !awake {
		a.s.Kick(vp)
	}
	return vp, nil
}

// where is the queue that a task belongs to.
func (tr *taskTree) where(t *Task) *Queue {
	if t.opt&hasCPUs == 0 {
		return tr.queues[0]
	}
	return tr.covering(t.cpus)
}

// nearestIdle finds the idle processor nearest to from (< 0: any) within set, if that is
// not empty, from the leaf upwards; -1: none.
func (tr *taskTree) nearestIdle(s Scheduler, from int, set CPUSet) (vp int, awake bool) {
	way, asleep := tr.way(from), -1
	if way == nil {
		way = tr.nodes[:1]
	}
	for _, n := range way {
		for _, vp := range n.vps {
			if vp == from || !set.Empty() && !set.Intersects(tr.ways[vp][0].cpus) {
				continue
			}
			switch idle, awake := s.Idle(vp); {
			case awake:
				return vp, true
			case idle && asleep < 0:
				asleep = vp
			}
		}
	}
	return asleep, false
}
