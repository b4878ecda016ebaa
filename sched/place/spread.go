package place

import (
	"slices"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/topo"
)

// Spread is a Policy that uses as much of the machine as it can. From the item on which the bubble is
// woken down to the VPs it distributes the threads and bubbles in it, the heaviest first, always to
// the part with the least weight for each of its VPs. While there are fewer bubbles and threads than
// parts Spread takes the heaviest bubble apart; otherwise bubbles stay whole, and their threads do not
// leave their part. So with one sub-bubble for each NUMA node each gets a node of its own, and spreads
// over that.
//
// Within a bubble's part, VPs with nothing to do take half of what waits on the nearest queue that has most; where that
// is not allowed, a whole bubble of at most half the weight, from a VP that has several. The zero value is ready to
// use, for any number of bubbles.
type Spread struct{ quiet }

// Wake distributes the bubbles and threads in b.
func (Spread) Wake(b *Bubble, on *topo.Item) {
	b.Arrange(spread(b.sched, []Placement{{b, on}}, b.Entities(), on))
}

// spread adds the entries that distribute all over the parts of an item to a plan that has placed them on the item.
func spread(s *sched.Scheduler, plan []Placement, all []Entity, on *topo.Item) []Placement {
	parts := s.Parts(on)
	if len(parts) == 0 {
		return plan
	}
	for i, share := range deal(s, splitHeaviest(all, len(parts)), parts) {
		for _, e := range share {
			plan = append(plan, Placement{e, parts[i]})
		}
		if len(share) == 1 {
			if b, ok := share[0].(*Bubble); ok && !b.HasPolicy() {
				share = b.Entities()
			}
		}
		plan = spread(s, plan, slices.DeleteFunc(share, hasOwnPolicy), parts[i])
	}
	return plan
}

// hasOwnPolicy reports whether e is a bubble with a policy of its own, which arranges it.
func hasOwnPolicy(e Entity) bool {
	b, ok := e.(*Bubble)
	return ok && b.HasPolicy()
}

// splitHeaviest returns all with the heaviest bubbles replaced by what is in them, until there are n entities, or no
// bubble is left that may be taken apart.
func splitHeaviest(all []Entity, n int) []Entity {
	all = slices.DeleteFunc(slices.Clone(all), func(e Entity) bool { return e.Weight() == 0 })
	for len(all) < n {
		best := -1
		for i, e := range all {
			if b, ok := e.(*Bubble); ok && !hasOwnPolicy(b) && (best < 0 || e.Weight() > all[best].Weight()) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		b := all[best].(*Bubble)
		all = append(slices.Delete(all, best, best+1), b.Entities()...)
	}
	return all
}

// deal gives each part a share, the heaviest entities first, to the part that has least for each of its VPs so far.
func deal(s *sched.Scheduler, all []Entity, parts []*topo.Item) (shares [][]Entity) {
	shares = make([][]Entity, len(parts))
	load, vps := make([]int, len(parts)), make([]int, len(parts))
	for i, p := range parts {
		vps[i] = s.VPsOf(p).Count()
	}
	weight := make(map[Entity]int, len(all)) // as it is now
	for _, e := range all {
		weight[e] = e.Weight()
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Entity) int { return weight[b] - weight[a] })
	for _, e := range all {
		best := 0
		for i := range parts {
			if load[i]*vps[best] < load[best]*vps[i] {
				best = i
			}
		}
		load[best] += weight[e]
		shares[best] = append(shares[best], e)
	}
	return shares
}

// Idle moves half of what waits on a queue near vp to its own.
func (Spread) Idle(b *Bubble, vp int) bool {
	leaf := b.sched.Leaf(vp)
	for q := leaf.Up(); q != nil; q = q.Up() {
		from := q.Fullest()
		if from != nil && b.relieve(from, leaf, (from.Waiting()+1)/2) > 0 {
			return true
		}
		if q.Up() == nil && from != nil {
			return takeOver(b, from.Item(), leaf.Item())
		}
	}
	return false
}

// takeOver moves a whole bubble, or a thread, from one item to another, if that item has several: the heaviest of at
// most half the weight that is there.
func takeOver(b *Bubble, from, to *topo.Item) bool {
	var there []Entity
	total := 0
	for _, e := range leaves(b) {
		if w := e.Weight(); w > 0 && e.Item() == from {
			there = append(there, e)
			total += w
		}
	}
	var best Entity
	for _, e := range there {
		if w := e.Weight(); w > 0 && 2*w <= total && (best == nil || w > best.Weight()) {
			best = e
		}
	}
	if best == nil || len(there) < 2 {
		return false
	}
	b.Arrange([]Placement{{best, to}})
	return b.sched.ReadyOn(to) > 0
}
