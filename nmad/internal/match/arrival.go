package match

import "github.com/pm2-go/pm2/internal/shelf"

// Arrival is the part of a message, of type M, by which a Matcher keeps it while it waits for its receive.
type Arrival[M any] struct {
	Entry[Arrival[M]]
	Value *M
	node  shelf.Node[Arrival[M]] // in Matcher.order
}

// Init sets the message to which the Arrival belongs. It is called before any other use.
func (m *Arrival[M]) Init(of *M) { m.Entry.Value, m.Value = m, of }

// arrivals lists unexpected messages in the order in which they came, for receives that do not name a tag.
type arrivals[M any] struct{ shelf.List[Arrival[M]] }

// find returns the oldest message that p matches; nil if there is none.
func (as *arrivals[M]) find(p Pattern) *Arrival[M] {
	for m := as.First(); m != nil; m = m.node.Next() {
		if p.Matches(m.Tag) {
			return m
		}
	}
	return nil
}
