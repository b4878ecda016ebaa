package place

import (
	"slices"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Entities lists what is directly in b: first the bubbles, in order of insertion, then the threads, in no order.
func (b *Bubble) Entities() []Entity {
	c := b.visit()
	all := make([]Entity, 0, len(b.bubbles)+len(b.threads))
	for _, x := range b.bubbles {
		all = append(all, x)
	}
	for _, t := range b.threads {
		all = append(all, t.thread)
	}
	b.leave(c)
	return all
}

// HasPolicy reports whether b has a policy of its own: then the policy of the bubble that contains b does not take b
// apart.
func (b *Bubble) HasPolicy() bool { return b.policy != nil }

// Wake lets the threads of b run: it places b on the machine, and b's policy arranges it. If b is awake already it is
// arranged anew. A bubble in another one is woken together with that; to wake it again arranges only the inner one. If
// b is in a bubble that is not awake, Wake fails with ErrInBubble. Other errors: ErrNoBubble, ErrStopped. Wake blocks
// only while another call arranges b.
func (b *Bubble) Wake() error {
	if err := b.usable(); err != nil {
		return err
	}
	c := b.visit()
	held, on := b.parent != nil && !b.parent.awake, b.sched.RootQueue()
	if b.parent != nil {
		on = b.parent.at
	}
	b.leave(c)
	if held {
		return ErrInBubble
	}
	return b.wakeOn(on)
}

// WakeOn is Wake on an item: only VPs below run threads of b. Errors: ErrNoItem, ErrNoBubble, ErrStopped.
func (b *Bubble) WakeOn(it *topo.Item) error {
	n, err := b.nodeOf(it)
	if err != nil {
		return err
	}
	return b.wakeOn(n)
}

// nodeOf returns the run queue of an item of b's scheduler.
func (b *Bubble) nodeOf(it *topo.Item) (*sched.Queue, error) {
	if err := b.usable(); err != nil {
		return nil, err
	}
	if n := b.sched.Queue(it); n != nil {
		return n, nil
	}
	return nil, sched.ErrNoItem
}

// wakeOn is WakeOn on a queue.
func (b *Bubble) wakeOn(n *sched.Queue) error {
	if b.policy == nil || n.Item() == nil {
		b.placeOn(n)
		return nil
	}
	for i := 1; !b.busy.CompareAndSwap(false, true); i++ {
		sched.Backoff(i)
	}
	defer b.busy.Store(false) // also if the policy, which may be the program's, panics
	b.policy.Wake(b, n.Item())
	return nil
}

// regroup has b arranged anew by the policy that is responsible for it.
func (b *Bubble) regroup() error {
	c := b.visit()
	for b.policy == nil && b.parent != nil {
		b = b.parent
	}
	at := b.at
	b.leave(c)
	if at.IsHold() {
		return nil
	}
	return b.wakeOn(at)
}

// Place puts b, with all that is in it, on the run queue of an item, without calling its policy; but bubbles in it that
// have policies of their own are woken there. Errors: ErrNoItem, ErrNoBubble, ErrStopped.
func (b *Bubble) Place(it *topo.Item) error {
	n, err := b.nodeOf(it)
	if err != nil {
		return err
	}
	b.placeOn(n)
	return nil
}

// Hold keeps the threads of b from running until b is placed again. Ready threads are held at once,
// running threads at their next scheduling point.
func (b *Bubble) Hold() { b.placeOn(nil) }

// placeOn is Place on a queue; nil: the bubble's hold.
func (b *Bubble) placeOn(n *sched.Queue) {
	b.arrange(func(m *moves) { b.put(n, true, m) })
}

// Placement is an entry of a plan (Bubble.Arrange): where an entity is to be.
type Placement struct {
	Entity Entity
	On     *topo.Item // nil: the entity, a bubble, is held
}

// Arrange places b, and what is in it at any depth, in one step: no thread runs where only an earlier entry of the plan
// has put it. A bubble takes all that is in it along, and later entries can place that elsewhere. Bubbles with policies
// of their own, other than b, are woken on the item instead. Entries for entities that are not in b any more, and for
// items without VPs, have no effect.
func (b *Bubble) Arrange(plan []Placement) {
	b.arrange(func(m *moves) {
		for _, p := range plan {
			n := b.sched.Queue(p.On)
			switch e := p.Entity.(type) {
			case *Bubble:
				if e.in(b) && (n != nil || p.On == nil) {
					e.put(n, e == b, m)
				}
			case sched.Thread:
				if n != nil && Of(e).in(b) {
					m.Move(e, n)
				}
			}
		}
	})
}

// arrange calls do under the lock of the bubbles, then moves the threads and wakes the bubbles that do has noted in m.
func (b *Bubble) arrange(do func(m *moves)) {
	var m moves
	c := b.visit()
	do(&m)
	b.sched.BubbleLock().Unlock()
	m.Finish(c)
	c.Leave()
	m.wakeOwn()
}

// put assigns b and all that is in it to n; nil: each bubble to its own hold. If b has a policy, and is not top, the
// bubble that is arranged, put only notes that b is to be woken on n. Under the lock of the bubbles.
func (b *Bubble) put(n *sched.Queue, top bool, m *moves) {
	m.ownPolicies = slices.DeleteFunc(m.ownPolicies, func(o pendingWake) bool { return o.bubble == b })
	if n != nil && !top && b.policy != nil {
		m.ownPolicies = append(m.ownPolicies, pendingWake{b, n})
		return
	}
	if b.at = n; n == nil {
		b.at = b.hold
	} else {
		b.awake = true
	}
	b.updatePlanners()
	for _, t := range b.threads {
		m.Move(t.thread, b.at)
	}
	for _, x := range b.bubbles {
		x.put(n, false, m)
	}
}

// setAwake marks b and the bubbles in it as awake or not. Under the lock of the bubbles.
func (b *Bubble) setAwake(awake bool) {
	b.awake = awake
	b.updatePlanners()
	for _, x := range b.bubbles {
		x.setAwake(awake)
	}
}

// moves are the threads that an arrangement moves, and the bubbles that it wakes afterwards.
type moves struct {
	sched.Moves
	ownPolicies []pendingWake
}

// pendingWake is a bubble with a policy of its own that is to be woken on a queue.
type pendingWake struct {
	bubble *Bubble
	queue  *sched.Queue
}

// wakeOwn wakes the bubbles that were noted. The caller holds no lock and is in no operation.
func (mv *moves) wakeOwn() {
	for _, w := range mv.ownPolicies {
		_ = w.bubble.wakeOn(w.queue) // cannot fail
	}
}
