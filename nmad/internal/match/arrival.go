package match

// Arrival is a message that waits for its receive. It is part of an M. Init makes one ready.
type Arrival[M any] struct {
	Entry[Arrival[M]]
	Of            *M
	before, after *Arrival[M] // in the order in which they came
}

// Init says of what it is part, once.
func (m *Arrival[M]) Init(of *M) { m.Entry.Of, m.Of = m, of }

// arrivals are the unexpected messages of a matcher in the order in which they came, for receives that do
// not name a tag.
type arrivals[M any] struct{ first, last *Arrival[M] }

func (a *arrivals[M]) push(m *Arrival[M]) {
	m.before, m.after = a.last, nil
	if a.last == nil {
		a.first = m
	} else {
		a.last.after = m
	}
	a.last = m
}

func (a *arrivals[M]) remove(m *Arrival[M]) {
	if m.before == nil {
		a.first = m.after
	} else {
		m.before.after = m.after
	}
	if m.after == nil {
		a.last = m.before
	} else {
		m.after.before = m.before
	}
	m.before, m.after = nil, nil
}

// find returns the oldest message that is right for p.
func (a *arrivals[M]) find(p Pattern) *Arrival[M] {
	for m := a.first; m != nil; m = m.after {
		if p.Matches(m.Tag) {
			return m
		}
	}
	return nil
}
