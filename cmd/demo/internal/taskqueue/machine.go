package taskqueue

import (
	"fmt"
	"iter"

	"github.com/pm2-go/pm2/sched/topo"
)

// Steps that an access takes in a simulation: of a line that is in the own cache, comes from a processor of the same
// part of the machine, or from another part. Only their order matters: they decide which comes when.
const (
	hitSteps  = 1
	nearSteps = 20
	farSteps  = 50
)

// Counts is what a simulation counted. Nothing in it is a time.
type Counts struct {
	Jobs      int
	Transfers int            // accesses for which the line had to come from another processor; without
	Word      int            // those of the engine's word of pending requests
	Shared    int            // of these, writes: others had the line, and lose it
	Failed    int            // looks at a lock that was held
	Rounds    int            // of all pollers together
	Visits    map[int]int    // rounds of a queue, by its depth in the tree: 0 is the root
	Ran       map[int]int    // jobs by the VP that ran them
	lines     map[Line]*line // as they lie in the caches
}

type line struct {
	has  uint64 // the processors that have it
	last int    // the core that wrote it last
}

// Machine is a simulated machine of at most 64 PUs: its processors are coroutines, of which always the one runs whose
// clock is behind, up to its next access.
type Machine struct {
	t   *topo.Topology
	vps []*processor
	now int // the VP that runs; -1: none
	n   Counts
}

type processor struct {
	clock int
	near  []bool // by VP: in the same part of the machine
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// NewMachine makes one with a VP for each PU.
func NewMachine(t *topo.Topology) (*Machine, error) {
	pus := t.PUs()
	if len(pus) == 0 || len(pus) > 64 {
		return nil, fmt.Errorf("a simulated machine of %d processors: choose one of 1 to 64", len(pus))
	}
	m := &Machine{t: t, now: -1}
	for _, pu := range pus {
		p := &processor{near: make([]bool, len(pus))}
		for other, o := range pus {
			c := t.Common(pu, o)
			p.near[other] = c.Outermost() != t.Root
		}
		m.vps = append(m.vps, p)
	}
	return m, nil
}

// Touch is for the variants.
func (m *Machine) Touch(l Line, k Kind) {
	if m.now < 0 {
		return // while something is being prepared
	}
	if k == Visit {
		depth := 0
		if it, ok := l.Of.(*topo.Item); ok && it != nil {
			depth = m.depth(it)
		}
		m.n.Visits[depth]++
		return
	}
	m.access(l, k)
	m.pause()
}

// depth counts the levels with siblings above an item.
func (m *Machine) depth(it *topo.Item) (d int) {
	for ; it != nil && it.Parent != nil; it = it.Parent {
		if len(it.Parent.Children) > 1 {
			d++
		}
	}
	return d
}

func (m *Machine) access(l Line, k Kind) {
	p, me := m.vps[m.now], uint64(1)<<m.now
	x := m.n.lines[l]
	if x == nil {
		x = &line{has: me, last: m.now} // out of memory the first time
		m.n.lines[l] = x
	}
	steps := hitSteps
	if k != Write && x.has&me == 0 || k == Write && x.has != me {
		switch {
		case l == pending:
			m.n.Word++
		case k == Write:
			m.n.Shared++
			fallthrough
		default:
			m.n.Transfers++
		}
		if steps = farSteps; p.near[x.last] {
			steps = nearSteps
		}
	}
	switch k {
	case Write:
		x.has, x.last = me, m.now
	case Fail:
		m.n.Failed++
		x.has |= me
	default:
		x.has |= me
	}
	p.clock += steps
}

// pause lets the threads behind run.
func (m *Machine) pause() {
	me := m.now
	m.vps[me].yield(struct{}{})
	m.now = me
}

// settle is how many rounds VP 0 makes first: the tree learns meanwhile which VPs poll.
const settle = 100

// Serve has VP 0 submit job n times, each time when the last one is finished, and every VP of the machine poll all the
// time, VP 0 while it waits. What the first quarter does is not counted.
func (m *Machine) Serve(q Queues, j *Job, n int) (Counts, error) {
	ended := false
	var failed error
	j.Run = func() { m.n.Ran[m.now]++ }
	q.Prepare(j)
	fresh := func(lines map[Line]*line) Counts {
		return Counts{Visits: map[int]int{}, Ran: map[int]int{}, lines: lines}
	}
	m.n = fresh(map[Line]*line{})
	for vp, p := range m.vps {
		*p = processor{near: p.near}
		p.next, p.stop = iter.Pull(func(yield func(struct{}) bool) {
			p.yield = yield
			if vp == 0 {
				failed = m.submit(q, j, n, func() { m.n = fresh(m.n.lines) })
				ended = true
				return
			}
			for !ended {
				m.round(q, vp)
			}
		})
	}
	for !ended {
		m.now = 0
		for vp, p := range m.vps {
			if p.clock < m.vps[m.now].clock {
				m.now = vp
			}
		}
		m.vps[m.now].next()
	}
	for running := true; running; { // each ends its round, lest it leave a queue locked
		running = false
		for vp, p := range m.vps {
			m.now = vp
			if _, more := p.next(); more {
				running = true
			}
		}
	}
	m.now = -1
	return m.n, failed
}

// submit is VP 0's life.
func (m *Machine) submit(q Queues, j *Job, n int, begin func()) error {
	for range settle {
		m.round(q, 0)
	}
	for i := range n + n/4 {
		if i == n/4 {
			begin()
		}
		if err := q.Submit(j); err != nil {
			return err
		}
		for m.Touch(Line{Of: j}, Read); !q.Finished(j); m.Touch(Line{Of: j}, Read) {
			m.round(q, 0)
		}
		m.n.Jobs++
	}
	return nil
}

// round is one round of a poller, which takes a step even if it accesses nothing.
func (m *Machine) round(q Queues, vp int) {
	m.n.Rounds++
	q.Poll(vp)
	m.vps[vp].clock += hitSteps
	m.pause()
}
