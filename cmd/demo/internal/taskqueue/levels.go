package taskqueue

import "github.com/pm2-go/pm2/sched/topo"

// Levels is a queue under a spinlock for each item of the pruned topology; a poller goes through all from its leaf to
// the root every round, as TD09's Algorithm 1 does (with the next task fetched inside the loop, and a bounded round).
type Levels struct {
	t    *topo.Topology
	of   map[*topo.Item]*locked
	ways [][]*locked // by VP
}

// NewLevels makes the queues of a machine with a VP for each PU.
func NewLevels(t *topo.Topology, touch Touch) *Levels {
	p := t.Pruned()
	l := &Levels{t: p, of: map[*topo.Item]*locked{}}
	p.Root.Walk(func(it *topo.Item) {
		l.of[it] = &locked{touch: touch}
		if it.Parent != nil {
			l.of[it].of = it
		}
	})
	for _, pu := range p.PUs() {
		var way []*locked
		for it := pu; it != nil; it = it.Parent {
			way = append(way, l.of[it])
		}
		l.ways = append(l.ways, way)
	}
	return l
}

// Name implements Queues.
func (*Levels) Name() string { return "per level, spinlocks" }

// Prepare implements Queues.
func (*Levels) Prepare(*Job) {}

// Submit implements Queues.
func (l *Levels) Submit(j *Job) error {
	j.finished.Store(0)
	q := l.of[l.t.Root]
	if !j.CPUs.Empty() {
		if it := l.covering(j.CPUs); it != nil {
			q = l.of[it]
		}
	}
	q.push(j)
	return nil
}

// covering is the lowest item that contains the set, found without allocating.
func (l *Levels) covering(set topo.CPUSet) *topo.Item {
	it := l.t.CPU(set.First())
	for it != nil && !it.CPUs.Contains(set) {
		it = it.Parent
	}
	return it
}

// Poll implements Queues.
func (l *Levels) Poll(vp int) {
	for _, q := range l.ways[vp] {
		q.drain()
	}
}

// Finished implements Queues.
func (*Levels) Finished(j *Job) bool { return j.finished.Load() != 0 }

// Close implements Queues.
func (*Levels) Close() error { return nil }
