package sched

import (
	"slices"
	"time"

	"github.com/pm2-go/pm2/sched/topo"
)

// BubblePolicy maps bubbles onto the machine. Spread, Cache, Gang, Steal and Explode are policies;
// programs may have their own. For one bubble one method is called at a time. They
// use the methods of the Bubble and its Entities (Arrange, Place, WakeOn, Hold, Weight,
// Item, Relieve) and of its Scheduler (Parts, VPsOf, ReadyOn), and must not block.
type BubblePolicy interface {
	// Wake places b on an item, and what is in it there or below, best with one Arrange
	// that begins with b itself; what it does not place is not run. It is called when b is
	// woken, and again when a bubble has been put into it, by whoever does that.
	Wake(b *Bubble, on *topo.Item)

	// Idle is called in the idle loop of a VP below b's item that has found nothing to
	// run: now and then, until it sleeps; and when threads begin to queue up elsewhere in
	// a bubble. It tells whether it has moved something to where that VP takes it from.
	Idle(b *Bubble, vp int) bool

	// Tick is called by the clock about once in Config.Period while b has threads, on an
	// OS thread of its own; now is monotonic. It tells whether it needs more ticks even if
	// nothing moves; else the clock sleeps then.
	Tick(b *Bubble, now time.Duration) bool
}

// Entity is what bubbles hold: a Thread or a *Bubble.
type Entity interface {
	Weight() int                // threads that have not ended
	Item() *topo.Item           // where it is placed; nil: nowhere, or held
	Place(it *topo.Item) error  // put it with all that is in it on the run queue of an item
	WakeOn(it *topo.Item) error // the same, and have its policy arrange it, if it has one of its own
}

var _, _ Entity = Thread{}, (*Bubble)(nil)

// Weight is 1 until the thread has ended, then 0.
func (h Thread) Weight() int {
	if h.Ended() {
		return 0
	}
	return 1
}

// WakeOn is Place: see Entity.
func (h Thread) WakeOn(it *topo.Item) error { return h.Place(it) }

// Relieve moves up to max of the ready threads of b, at any depth, that wait on the
// queue of one item to that of another, the oldest first; but each bubble's threads
// stay below the item on which the bubble is placed. It returns how many it has moved.
func (b *Bubble) Relieve(from, to *topo.Item, max int) (moved int) {
	n, o := b.s.nodes[from], b.s.nodes[to]
	if n == nil || o == nil || n == o || n.count.Load() == 0 {
		return 0
	}
	c := b.visit()
	n.mu.Lock()
	for r := range rank(ranks) {
		if n.q.present()&r.bit() == 0 {
			continue
		}
		for q, i := n.q.of(r), uint32(0); i < uint32(q.len()) && moved < max; i++ {
			t := *q.at(q.head + i)
			// A joiner of t has its lock while it looks for work on this node: then t stays.
			if x := t.x.Load().bubble.Load(); x != nil && x.in(b) && o.under(x.at) && o.reaching(t) == o && t.mu.TryLock() {
				t.assign(o)
				t.mu.Unlock()
				moved++
			}
		}
	}
	n.mu.Unlock()
	b.s.forest.Unlock()
	if moved > 0 {
		n.sift()
	}
	c.Leave()
	return moved
}

// Parts lists the items below an item between which a policy can choose: the nearest
// with run queues of their own. None below a single VP.
func (s *Scheduler) Parts(it *topo.Item) (parts []*topo.Item) {
	if n := s.nodes[it]; n != nil {
		for _, d := range n.down {
			if s.nodes[d.item] == d {
				parts = append(parts, d.item)
			}
		}
	}
	return parts
}

// ReadyOn is the number of threads that wait on the run queue of an item; those of
// the items in it are not counted. It changes all the time.
func (s *Scheduler) ReadyOn(it *topo.Item) int {
	if n := s.nodes[it]; n != nil {
		return int(n.count.Load())
	}
	return 0
}

// list keeps s.bubbles: those that are awake, have threads, and a policy. Under
// s.forest.
func (b *Bubble) list() {
	want := b.policy != nil && b.awake && b.alive > 0
	if want == b.listed {
		return
	}
	b.listed = want
	var all []*Bubble
	if p := b.s.bubbles.Load(); p != nil {
		all = slices.DeleteFunc(slices.Clone(*p), func(o *Bubble) bool { return o == b })
	}
	if want {
		all = append(all, b)
	}
	if len(all) == 0 {
		b.s.bubbles.Store(nil)
	} else {
		b.s.bubbles.Store(&all)
	}
}

// tickBubbles is called by the clock.
func (s *Scheduler) tickBubbles(now int64) (needed bool) {
	p := s.bubbles.Load()
	if p == nil {
		return false
	}
	for _, b := range *p {
		if b.busy.CompareAndSwap(false, true) {
			needed = b.policy.Tick(b, time.Duration(now)) || needed
			b.busy.Store(false)
		}
	}
	return needed
}

// bubblePause is how long, in ns, an idle VP does not ask policies again that had
// nothing for it.
const bubblePause = 10_000

// askBubbles has the policies find something for v, which is idle.
func (v *vp) askBubbles(all []*Bubble, now int64, pause int64) bool {
	if now < v.bubblesAt {
		return false
	}
	for _, b := range all {
		if !b.busy.CompareAndSwap(false, true) {
			continue
		}
		c := Visit()
		b.s.forest.Lock()
		mine := v.home.under(b.at)
		b.s.forest.Unlock()
		c.Leave()
		moved := mine && b.policy.Idle(b, v.id)
		b.busy.Store(false)
		if moved {
			return true
		}
	}
	v.bubblesAt = now + pause
	return false
}
