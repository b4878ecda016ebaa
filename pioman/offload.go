package pioman

// Offload submits a task to the nearest idle core (Trahay & Denis, 2009, section IV.B), so that the caller goes on with
// its computation while that core does the work. The task goes into the leaf of the nearest VP that is
// idle and awake. If none is awake, and wake is set, Offload wakes the nearest idle one, by a system call of some
// microseconds: that is worth it for work of tens of microseconds (docs/decisions/offload.md). If there is no such
// VP Offload is Submit: the caller's own wait or hooks run the task, unless another poller is faster. A task with
// a CPU set goes only to VPs of the set.
//
// Offload returns that VP's number; -1 if there was none. It costs as much as Submit and one more cache line. Errors
// are those of Submit.
func (e *Engine) Offload(t *Task, wake bool) (vp int, err error) {
	if err := e.claim(t); err != nil {
		return -1, err
	}
	tr, a := e.tree.Load(), e.attached.Load()
	vp, awake := -1, false
	if a != nil {
		vp, awake = tr.nearestIdle(a.scheduler, a.scheduler.CurrentVP(), t.cpus)
	}
	if vp < 0 || !awake && !wake {
		e.put(t, tr.where(t), tr)
		return -1, nil
	}
	e.put(t, tr.ways[vp][0].queue, tr)
	if !awake {
		a.scheduler.Kick(vp)
	}
	return vp, nil
}

// where returns the queue that Submit puts a task into.
func (tr *taskTree) where(t *Task) *Queue {
	if t.opt&hasCPUs == 0 {
		return tr.queues[0]
	}
	return tr.covering(t.cpus)
}

// nearestIdle returns the VP nearest to from (below 0: any) that is idle and awake, else the nearest that is idle;
// -1: none. It searches from the leaf of from upwards, and, if set is not empty, only VPs of set.
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
