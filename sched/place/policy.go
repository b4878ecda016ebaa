package place

import (
	"slices"
	"time"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Policy maps bubbles onto the machine. Spread, Cache, Gang, Steal and Explode are policies; programs may have their
// own. For one bubble one method is called at a time. They use the methods of the Bubble and its Entities (Arrange,
// Place, WakeOn, Hold, Weight, Item, Relieve) and of its Scheduler (Parts, VPsOf, ReadyOn), and must not block.
type Policy interface {
	// Wake places b on an item, and the threads and bubbles in b there or below, best with one Arrange
	// that begins with b itself. What it does not place does not run. The thread that wakes b, or puts
	// a bubble into it later, calls Wake.
	Wake(b *Bubble, on *topo.Item)

	// Idle is called in the idle loop of a VP below b's item that has found nothing to run: now and
	// then, until the VP sleeps; and when threads begin to queue up elsewhere in a bubble. It tells
	// whether it has moved a thread to a queue that this VP looks at.
	Idle(b *Bubble, vp int) bool

	// Tick is called by the clock about once in Config.Period while b has threads, on an OS thread of its own; now is
	// monotonic. It reports whether it needs more ticks even if nothing moves; else the clock sleeps then.
	Tick(b *Bubble, now time.Duration) bool
}

// quiet is the Tick of a Policy to which time means nothing.
type quiet struct{}

// Tick implements Policy.
func (quiet) Tick(*Bubble, time.Duration) bool { return false }

// Entity is an element of a bubble: a Thread or a *Bubble.
type Entity interface {
	Weight() int                // threads that have not ended
	Item() *topo.Item           // where it is placed; nil: nowhere, or held
	Place(it *topo.Item) error  // put it with all that is in it on the run queue of an item
	WakeOn(it *topo.Item) error // the same, and have its policy arrange it, if it has one of its own
}

var _, _ Entity = sched.Thread{}, (*Bubble)(nil)

// Relieve moves up to max of the ready threads of b, at any depth, that wait on the queue of one item to that of
// another, the oldest first; but each bubble's threads stay below the item on which the bubble is placed. It returns
// how many it has moved.
func (b *Bubble) Relieve(from, to *topo.Item, max int) (moved int) {
	return b.relieve(b.sched.Queue(from), b.sched.Queue(to), max)
}

// relieve is Relieve from queue q to queue o.
func (b *Bubble) relieve(q, o *sched.Queue, most int) (moved int) {
	if q == nil || o == nil || q == o || q.Waiting() == 0 {
		return 0
	}
	c := b.visit()
	moved = q.Relieve(o, most, func(h sched.Thread) bool {
		x := Of(h)
		return x != nil && x.in(b) && o.Under(x.at)
	})
	b.sched.BubbleLock().Unlock()
	if moved > 0 {
		q.Resort()
	}
	c.Leave()
	return moved
}

// updatePlanners adds b to the planners of its scheduler, or removes it: a planner is a bubble that is awake, and has
// threads and a policy. Under the lock of the bubbles.
func (b *Bubble) updatePlanners() {
	want := b.policy != nil && b.awake && b.alive > 0
	if want == b.isPlanner {
		return
	}
	b.isPlanner = want
	all := slices.DeleteFunc(slices.Clone(b.sched.Planners()), func(o sched.Planner) bool { return o == sched.Planner(b) })
	if want {
		all = append(all, b)
	}
	b.sched.SetPlanners(all)
}

// Tick implements sched.Planner.
func (b *Bubble) Tick(now time.Duration) (needed bool) {
	if b.busy.CompareAndSwap(false, true) {
		needed = b.policy.Tick(b, now)
		b.busy.Store(false)
	}
	return needed
}

// Seek implements sched.Planner.
func (b *Bubble) Seek(vp int) (moved bool) {
	if !b.busy.CompareAndSwap(false, true) {
		return false
	}
	c := b.visit()
	mine := b.sched.Leaf(vp).Under(b.at)
	b.leave(c)
	moved = mine && b.policy.Idle(b, vp)
	b.busy.Store(false)
	return moved
}
