package nmad

// Match says which messages a receive or a probe is for: those whose tags agree
// with Tag in all bits that are set in Mask. The zero Match is for any message.
type Match struct{ Tag, Mask uint64 }

// Tag returns the Match of exactly that tag.
func Tag(tag uint64) Match { return Match{tag, exact} }

// exact is the mask that leaves no choice.
const exact = ^uint64(0)

// Matches says whether m is for messages with that tag.
func (m Match) Matches(tag uint64) bool { return (tag^m.Tag)&m.Mask == 0 }

// wildList holds what waits for a message that it does not name exactly: receives with
// a mask, receives from any source, and probes. In the order in which they were posted;
// a message takes a walk along it, so exact receives are never in it.
type wildList struct{ first, last *Request }

func (l *wildList) empty() bool { return l.first == nil }

func (l *wildList) push(r *Request) {
	r.before, r.after = l.last, nil
	if l.last == nil {
		l.first = r
	} else {
		l.last.after = r
	}
	l.last = r
	r.listed = true
}

// remove takes r out and says whether it was there.
func (l *wildList) remove(r *Request) bool {
	if !r.listed {
		return false
	}
	if r.before == nil {
		l.first = r.after
	} else {
		r.before.after = r.after
	}
	if r.after == nil {
		l.last = r.before
	} else {
		r.after.before = r.before
	}
	r.before, r.after, r.listed = nil, nil, false
	return true
}

// find returns the first receive, or the first probe, for that tag.
func (l *wildList) find(tag uint64, probes bool) *Request {
	for r := l.first; r != nil; r = r.after {
		if r.peeks == probes && r.match.Matches(tag) {
			return r
		}
	}
	return nil
}

// arrivals are the unexpected messages of a gate in the order in which they came, for
// receives that do not name a tag. Under the lock of the gate.
type arrivals struct {
	first, last *message
}

func (a *arrivals) push(m *message) {
	m.before, m.after = a.last, nil
	if a.last == nil {
		a.first = m
	} else {
		a.last.after = m
	}
	a.last = m
}

func (a *arrivals) remove(m *message) {
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

// find returns the oldest message that is right for m.
func (a *arrivals) find(m Match) *message {
	for x := a.first; x != nil; x = x.after {
		if m.Matches(x.tag) {
			return x
		}
	}
	return nil
}
