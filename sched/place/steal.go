package place

import "github.com/pm2-go/pm2/sched/topo"

// Steal is a Policy that moves nothing before a VP has nothing to do: a bubble begins, whole, on the first VP of its
// item. An idle VP takes over, from the nearest VP where threads wait, a whole bubble of at most half the weight there;
// if there is none, half of the threads. So work goes where VPs are idle, and related threads move together.
//
// The zero value is ready to use, for any number of bubbles.
type Steal struct{ quiet }

// Wake puts all threads and bubbles in b on one VP.
func (Steal) Wake(b *Bubble, on *topo.Item) {
	plan := []Placement{{b, on}}
	for _, e := range b.Entities() {
		plan = append(plan, Placement{e, innermost(b.sched, on, 1)[0]})
	}
	b.Arrange(plan)
}

// Idle looks at the nearest queues first.
func (Steal) Idle(b *Bubble, vp int) bool {
	leaf := b.sched.Leaf(vp)
	for q := leaf.Up(); q != nil; q = q.Up() {
		if from := q.Fullest(); from != nil && (takeOver(b, from.Item(), leaf.Item()) || split(b, from.Item(), leaf.Item())) {
			return true
		}
	}
	return false
}

// Explode is a Policy that takes all bubbles apart, but those with policies of their own, and deals their threads out
// over all VPs of the item, one by one. Idle VPs take half of what waits on the nearest queue that has most.
//
// The zero value is ready to use, for any number of bubbles.
type Explode struct{ quiet }

// Wake distributes the threads.
func (Explode) Wake(b *Bubble, on *topo.Item) {
	dealOut(b, on, threads(b), innermost(b.sched, on, 1))
}

// Idle is Spread's.
func (Explode) Idle(b *Bubble, vp int) bool { return Spread{}.Idle(b, vp) }
