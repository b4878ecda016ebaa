package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Match says which messages a receive or a probe is for: those whose tags agree
// with Tag in all bits that are set in Mask. The zero Match is for any message.
type Match struct{ Tag, Mask uint64 }

// Tag returns the Match of exactly that tag.
func Tag(tag uint64) Match { return Match{tag, exact} }

// exact is the mask that leaves no choice.
const exact = match.Exact

// Matches says whether m is for messages with that tag.
func (m Match) Matches(tag uint64) bool { return match.Pattern(m).Matches(tag) }

// newAny makes what so many gates share. Hooks wait for its lock, so it is one that they may take.
func newAny(gates int) *match.Any[Request] {
	return match.NewAny[Request](gates, &marcel.SpinLock{})
}

// join has the gate share its receives from any source with others.
func (g *Gate) join(any *match.Any[Request]) {
	g.any = any
	g.rx.Init(g.rank, any)
}

// match takes out the receive that a message with that tag is for: the one that was
// posted first among those of the gate with exactly this tag, with a mask, and from
// any source. nil: there is none.
func (g *Gate) match(tag uint64) *Request {
	if g.rx.Exactly() {
		return g.rx.Arrive(tag)
	}
	g.collect() // a thread may have posted a receive here and then one for any source: keep its order
	r := g.rx.ArriveAny(tag)
	if r != nil {
		r.entry.Tag, r.from = tag, g.rank
	}
	return r
}

// keep puts a message that no receive is for among the unexpected ones, and tells the
// probes.
func (g *Gate) keep(m *message) {
	g.stats.Unexpected++
	g.note(MessageArrived, m.envelope(g), nil, nil)
	if g.rx.Keep(&m.Arrival) {
		g.lookAgain()
	}
}

// lookAgain sees to it that whoever lets the lock of the gate go looks through its
// unexpected messages before. Anybody may call it.
func (g *Gate) lookAgain() {
	if !g.rescan.Swap(true) {
		g.landed.Add(1)
	}
}

// searchIfAsked looks through the unexpected messages if lookAgain was called. Under mu.
func (g *Gate) searchIfAsked() {
	if g.rescan.Load() && g.rescan.Swap(false) {
		g.landed.Add(-1)
		g.rx.Search()
		if !g.any.Empty() {
			g.relieve()
		}
	}
}

// found takes a receive from any source, and the message that a search has found for it. It is delivered
// to by attend.
func (g *Gate) found(r *Request, m *message) {
	r.entry.Tag, r.from = m.Tag, g.rank
	r.stage, r.held = matched, m
	g.collected.push(r)
}

// seen ends a probe that has found its message.
func (g *Gate) seen(p *Request, m *message) {
	p.entry.Tag, p.from, p.size = m.Tag, g.rank, m.size
	g.complete(p, nil)
}
