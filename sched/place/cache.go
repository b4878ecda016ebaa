package place

import (
	"slices"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Cache is a Policy for threads that share data: each bubble in the one that it arranges is kept whole, and on the
// queue of one cache, so that its threads run only where they find each other's data. The caches are the innermost
// items with several VPs (usually the cache of the last level; hardware threads of one core share that). The heaviest
// bubbles are dealt out first, each to the cache with the least weight; a bubble that has been placed before stays
// where it was as long as that is not overloaded. A bubble is taken apart only if there are fewer than caches, or if it
// weighs more than a fair share by half and consists of bubbles.
//
// When a VP has nothing to do, and on another cache at least two threads wait, it takes over a whole bubble of at most
// half the weight there; if that cache has a single one, half of the threads, which is when the bubble is split.
//
// The zero value is ready to use, for any number of bubbles.
type Cache struct{ quiet }

// caches lists the innermost items with several VPs at and below an item.
func caches(s *sched.Scheduler, on *topo.Item) []*topo.Item { return innermost(s, on, 2) }

// innermost lists the innermost items with that many VPs at and below an item.
func innermost(s *sched.Scheduler, on *topo.Item, vps int) (all []*topo.Item) {
	for _, p := range s.Parts(on) {
		if s.VPsOf(p).Count() >= vps {
			all = append(all, innermost(s, p, vps)...)
		}
	}
	if len(all) == 0 {
		all = append(all, on)
	}
	return all
}

// Wake distributes the bubbles and threads in b.
func (Cache) Wake(b *Bubble, on *topo.Item) {
	s := b.sched
	at := caches(s, on)
	all := splitHeaviest(b.Entities(), len(at))
	for i := 0; i < len(all); {
		x, ok := all[i].(*Bubble)
		if fair := b.Weight() / len(at); ok && !hasOwnPolicy(x) && x.Weight() > fair+fair/2 && hasBubbles(x) {
			all = append(slices.Delete(all, i, i+1), x.Entities()...)
		} else {
			i++
		}
	}
	dealOut(b, on, all, at)
}

// dealOut places b on an item, and deals out what is in it to others.
func dealOut(b *Bubble, on *topo.Item, all []Entity, at []*topo.Item) {
	plan := []Placement{{b, on}}
	for i, share := range deal(b.sched, all, at) {
		for _, e := range share {
			plan = append(plan, Placement{e, at[i]})
		}
	}
	b.Arrange(plan)
}

// hasBubbles reports whether a bubble is directly in b.
func hasBubbles(b *Bubble) bool {
	return slices.ContainsFunc(b.Entities(), func(e Entity) bool { _, ok := e.(*Bubble); return ok })
}

// Idle finds the cache where most threads wait.
func (Cache) Idle(b *Bubble, vp int) bool {
	s := b.sched
	on := b.Item()
	if on == nil {
		return false
	}
	var from, to *topo.Item
	for _, c := range caches(s, on) {
		if s.VPsOf(c).Has(vp) {
			to = c
		} else if from == nil || s.ReadyOn(c) > s.ReadyOn(from) {
			from = c
		}
	}
	if from == nil || to == nil || s.ReadyOn(from) < 2 || s.ReadyOn(to) > 0 {
		return false
	}
	return takeOver(b, from, to) || split(b, from, to)
}

// split moves half of the threads on one item to another. It may divide bubbles.
func split(b *Bubble, from, to *topo.Item) bool {
	var plan []Placement
	for _, t := range threads(b) {
		if t.Item() == from {
			plan = append(plan, Placement{t, to})
		}
	}
	b.Arrange(plan[:len(plan)/2])
	return b.sched.ReadyOn(to) > 0
}

// threads lists those in b, but not those in bubbles with policies of their own.
func threads(b *Bubble) (all []Entity) {
	for _, e := range b.Entities() {
		if x, ok := e.(*Bubble); !ok {
			all = append(all, e)
		} else if !hasOwnPolicy(x) {
			all = append(all, threads(x)...)
		}
	}
	return all
}

// leaves lists what is kept whole in b: its threads, and bubbles that are not taken apart any further.
func leaves(b *Bubble) (all []Entity) {
	for _, e := range b.Entities() {
		if x, ok := e.(*Bubble); ok && !hasOwnPolicy(x) && hasBubbles(x) {
			all = append(all, leaves(x)...)
		} else {
			all = append(all, e)
		}
	}
	return all
}
