package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Match says which messages a receive or a probe is for: those whose tags agree with Tag in all bits that are set in Mask,
// in a context. The zero Match is for any message that was sent without naming a context.
type Match struct {
	Tag, Mask uint64
	Context   *Context // nil: that of messages which name none
}

// Tag returns a Match for exactly that tag.
func Tag(tag uint64) Match { return Match{Tag: tag, Mask: exact} }

// exact is the mask that leaves no choice.
const exact = match.Exact

// Matches says whether mt is for messages with that tag in its context.
func (mt Match) Matches(tag uint64) bool { return mt.pattern().Matches(tag) }

func (mt Match) pattern() match.Pattern { return match.Pattern{Tag: mt.Tag, Mask: mt.Mask} }

// newAny makes what the gates to a group share, in the process with the rank own. Hooks wait for its lock, so it is one
// that they may take.
func newAny(group match.Group, own int) *match.Any[flow.Request] {
	return match.NewAny[flow.Request](group, own, &marcel.SpinLock{})
}

// join has the gate share its receives from any source with others.
func (h *lockedGate) join(any *match.Any[flow.Request]) {
	h.g.any = any
	h.flow.Join(flow.Plain, any)
}

// Receives and probes from any source, as a session and its gates see them: ANYSOURCE.md has the protocol. A thread that
// posts one never waits for the lock of a gate: it leaves the gate's part of the work for the holder, as a request
// (inbox.go).

// startAny begins a receive, or a probe, from any source in a context.
func (d *Domain) startAny(r *Request, in *Context) {
	x, any := r.useRare(), in.anyIn(d)
	x.Anywhere, x.domain, x.any = true, d, any
	r.notifyOwner()
	r.core.Stage, r.core.Counted = flow.Posted, true
	r.gate.pollEngine.Need()    // it is under no gate's lock, and counts for itself
	any.Post(&r.core.Rare.Wild) // r may be done, and started again, from here on
	d.look(any)
	if d.s.relayLost.Load() {
		d.meshOnce()
	}
	if any.Err() != nil {
		d.ownGate().look() // if no gate has messages, this one fails it
	}
}

// look makes all gates that may hold unexpected messages compare them with the receives from any source of a context.
func (d *Domain) look(any *match.Any[flow.Request]) {
	for rank := range any.Flagged {
		if any.Empty() {
			return
		}
		d.gates.at(rank).look()
	}
}

// lookLast is look for receives that were posted before the last sender has ended.
func (d *Domain) lookLast(any *match.Any[flow.Request]) {
	d.look(any)
	d.ownGate().look()
}

// look makes the gate compare its unexpected messages with the receives from any source. The caller does it, or the holder
// of the lock.
func (g *Gate) look() {
	g.lookAgain()
	g.tend()
}

// failLost fails the receives from any source that have no message and will get none. It runs after this gate has compared
// its messages with all receives up to that age.
func (h *lockedGate) failLost(age uint64) {
	h.failLostOf(h.g.any, age)
	for _, c := range h.contexts {
		h.failLostOf(c.any, age)
	}
}

func (h *lockedGate) failLostOf(any *match.Any[flow.Request], age uint64) {
	why := any.Err()
	if why == nil {
		return
	}
	any.Searched(h.g.rank, age)
	for c := any.TakeLost(); c != nil; c = any.TakeLost() {
		h.flow.Finish(c, why)
	}
}
