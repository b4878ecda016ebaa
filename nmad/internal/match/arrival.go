package match

import "github.com/pm2-go/pm2/internal/shelf"

// Arrival is a message that waits for its receive. It is part of an M. Init makes one ready.
type Arrival[M any] struct {
	Entry[Arrival[M]]
	Of   *M
	node shelf.Node[Arrival[M]] // in the order in which they came
}

// Init says of what it is part, once.
func (m *Arrival[M]) Init(of *M) { m.Entry.Of, m.Of = m, of }

// arrivals are the unexpected messages of a matcher in the order in which they came, for receives that do
// not name a tag.
type arrivals[M any] struct{ shelf.List[Arrival[M]] }

// find returns the oldest message that is right for p.
func (as *arrivals[M]) find(p Pattern) *Arrival[M] {
	for m := as.First(); m != nil; m = m.node.Next() {
		if p.Matches(m.Tag) {
			return m
		}
	}
	return nil
}
