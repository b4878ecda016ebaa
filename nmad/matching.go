package nmad

import "math"

// match takes out the receive that a message with that tag is for: the one that was
// posted first among those of the gate with exactly this tag, with a mask, and from
// any source. nil: there is none.
func (g *Gate) match(tag uint64) *Request {
	if !g.tableDecides() {
		return g.matchWild(tag)
	}
	p := g.rx.posted.place(tag)
	if *p == nil {
		return nil
	}
	return g.rx.posted.unlink(p).req
}

// tableDecides says that no receive has a mask or is from any source.
func (g *Gate) tableDecides() bool { return g.rx.wild.empty() && g.any.count.Load() == 0 }

func (g *Gate) matchWild(tag uint64) *Request {
	g.collect() // a thread may have posted a receive here and then one for any source: keep its order
	posted := uint64(math.MaxUint64)
	if g.rx.unexpected.len != 0 {
		// What came before goes first: a receive that has not been compared with the
		// unexpected messages must not get this one. Its poster has us look through them.
		if g.any.clock.Load() != g.rx.searched {
			g.search()
		}
		posted = g.rx.searched
	}
	exactly := g.rx.posted.peek(tag)
	masked := g.rx.wild.find(tag, false)
	age := uint64(math.MaxUint64)
	if masked != nil {
		age = masked.age
	}
	if exactly != nil && exactly.req.age < age {
		masked, age = nil, exactly.req.age
	} else {
		exactly = nil
	}
	r := g.any.take(tag, min(age, posted), false)
	switch {
	case r != nil:
	case masked != nil:
		g.rx.wild.remove(masked)
		r = masked
	case exactly != nil:
		return g.rx.posted.take(tag).req
	default:
		return nil
	}
	r.tag, r.from = tag, g.rank
	return r
}

// keep puts a message that no receive is for among the unexpected ones, and tells the
// probes.
func (g *Gate) keep(m *message) {
	g.rx.unexpected.add(&m.entry)
	g.rx.order.push(m)
	g.stats.Unexpected++
	g.note(MessageArrived, m.envelope(g), nil, nil)
	if !g.rx.flagged {
		g.rx.flagged = true
		g.any.flag(g.rank, true)
		if g.any.count.Load() != 0 {
			g.lookAgain() // posted since match looked
		}
	}
	// With a flag that was there already the poster of a wildcard sees it, and sees to
	// it that somebody looks again.
	switch {
	case g.rx.wild.empty() && g.any.count.Load() == 0:
	case g.rx.unexpected.len == 1:
		g.tellProbes(m, math.MaxUint64)
	case g.any.clock.Load() != g.rx.searched:
		g.search() // a probe that was not compared with what came before m must hear of that
	default:
		g.tellProbes(m, g.rx.searched)
	}
}

// takeUnexpected takes out the oldest message for m; nil: there is none.
func (g *Gate) takeUnexpected(m Match) *message {
	if g.rx.unexpected.len == 0 {
		return nil
	}
	tag := m.Tag
	if m.Mask != exact {
		x := g.rx.order.find(m)
		if x == nil {
			return nil
		}
		tag = x.tag // of which it is the oldest
	}
	e := g.rx.unexpected.take(tag)
	if e == nil {
		return nil
	}
	g.rx.order.remove(e.msg)
	return e.msg
}

// peekUnexpected finds the oldest message for m and leaves it where it is.
func (g *Gate) peekUnexpected(m Match) *message {
	if g.rx.unexpected.len == 0 {
		return nil
	}
	if m.Mask != exact {
		return g.rx.order.find(m)
	}
	if e := g.rx.unexpected.peek(m.Tag); e != nil {
		return e.msg
	}
	return nil
}

// lookAgain sees to it that whoever lets the lock of the gate go looks through its
// unexpected messages before. Anybody may call it.
func (g *Gate) lookAgain() {
	if !g.rescan.Swap(true) {
		g.landed.Add(1)
	}
}

// searchIfAsked is search if lookAgain was called.
func (g *Gate) searchIfAsked() {
	if g.rescan.Load() && g.rescan.Swap(false) {
		g.landed.Add(-1)
		g.search()
	}
}

// search looks through the unexpected messages for such as a receive from any source,
// or a probe, has been posted for since they came. The receives are delivered to by
// attend. Under mu.
func (g *Gate) search() {
	g.rx.searched = g.any.now()
	for m := g.rx.order.first; m != nil; m = m.after {
		g.tellProbes(m, g.rx.searched)
	}
	for m := g.rx.order.first; m != nil; {
		// Only such as were posted before: one that is posted now must begin with the oldest,
		// and its poster sees to it.
		r := g.any.take(m.tag, g.rx.searched, false)
		if r == nil {
			m = m.after
			continue
		}
		g.rx.unexpected.take(m.tag) // m: of its tag there is none before it, or r would have got that
		next := m.after
		g.rx.order.remove(m)
		r.tag, r.from = m.tag, g.rank
		r.stage, r.held = matched, m
		g.collected.push(r)
		m = next
	}
	if g.any.count.Load() != 0 {
		g.relieve()
	}
	if g.rx.unexpected.len == 0 && g.rx.flagged && !g.rx.full {
		g.rx.flagged = false
		g.any.flag(g.rank, false)
	}
}

// tellProbes ends all probes that are for m, of those for any source such as are of at
// most that age: younger ones begin with the oldest message, and their poster sees to it.
func (g *Gate) tellProbes(m *message, age uint64) {
	for p := g.takeProbe(m.tag, age); p != nil; p = g.takeProbe(m.tag, age) {
		g.seen(p, m)
	}
}

func (g *Gate) takeProbe(tag, age uint64) *Request {
	if p := g.rx.wild.find(tag, true); p != nil {
		g.rx.wild.remove(p)
		return p
	}
	return g.any.take(tag, age, true)
}

// seen ends a probe that has found its message.
func (g *Gate) seen(p *Request, m *message) {
	p.tag, p.from, p.size = m.tag, g.rank, m.size
	g.complete(p, nil)
}
