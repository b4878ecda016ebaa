package nmad

import (
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/match"
)

// Match says which messages a receive or a probe takes: those in a context whose tags agree with Tag in all bits that
// are set in Mask. The zero Match takes any message that was sent without a context.
type Match struct {
	Tag, Mask uint64
	Context   *Context // nil stands for the messages that were sent without a context
}

// Tag returns a Match for exactly that tag.
func Tag(tag uint64) Match { return Match{Tag: tag, Mask: exact} }

// exact is the mask of a Match for one tag only.
const exact = match.Exact

// Matches reports whether mt takes messages with that tag, in its context.
func (mt Match) Matches(tag uint64) bool { return mt.pattern().Matches(tag) }

func (mt Match) pattern() match.Pattern { return match.Pattern{Tag: mt.Tag, Mask: mt.Mask} }

// newAnyList makes the list of receives from any source that the gates to a group share. own is the rank of this
// process. Its lock is one that hooks may wait for.
func newAnyList(group match.Group, own int) *match.AnyList[flow.Request] {
	return match.NewAnyList[flow.Request](group, own, &marcel.SpinLock{})
}

// join makes the gate share its receives from any source with other gates.
func (h *lockedGate) join(anyList *match.AnyList[flow.Request]) {
	h.gate.anyList = anyList
	h.flow.Join(flow.DefaultContext, anyList)
}

// The rest of this file has the part of a domain and its gates in receives and probes from any source; ANYSOURCE.md has
// the protocol. A thread that posts one never waits for the lock of a gate: it leaves the gate's part of the work in
// the inbox.

// startAny begins a receive, or a probe, from any source in a context, or in none if that is nil.
func (d *Domain) startAny(r *Request, msgContext *Context) {
	x, anyList := r.useExtras(), msgContext.anyListOf(d)
	x.Anywhere, x.domain, x.anyList = true, d, anyList
	r.endBySignal()
	r.core.Stage, r.core.Counted = flow.Posted, true
	r.gate.pollEngine.AddPending()    // no gate counts r as pending; tellDone calls RemovePending
	anyList.Post(&r.core.Extras.Wild) // from here on r may end, and be started again
	d.look(anyList)
	if d.session.relayLost.Load() {
		d.meshOnce()
	}
	if anyList.Err() != nil {
		d.ownGate().look() // if no gate has messages, this one makes r fail
	}
}

// look makes all gates that may hold unexpected messages compare them with the receives in anyList.
func (d *Domain) look(anyList *match.AnyList[flow.Request]) {
	for rank := range anyList.Flagged {
		if anyList.Empty() {
			return
		}
		d.gates.at(rank).look()
	}
}

// lookLast is look after the end of the last sender: it makes the receives in anyList fail that find no message.
func (d *Domain) lookLast(anyList *match.AnyList[flow.Request]) {
	d.look(anyList)
	d.ownGate().look()
}

// look makes the gate compare its unexpected messages with the receives from any source: the caller does so, or the
// holder of the lock.
func (g *Gate) look() {
	g.lookAgain()
	g.tend()
}

// failLost fails the receives from any source that have no message and will get none. The caller has compared the
// messages of this gate with all receives of up to that age.
func (h *lockedGate) failLost(age uint64) {
	h.failLostOf(h.gate.anyList, age)
	for _, c := range h.contexts {
		h.failLostOf(c.anyList, age)
	}
}

// failLostOf is failLost for one context.
func (h *lockedGate) failLostOf(anyList *match.AnyList[flow.Request], age uint64) {
	why := anyList.Err()
	if why == nil {
		return
	}
	anyList.Searched(h.gate.rank, age)
	for c := anyList.TakeLost(); c != nil; c = anyList.TakeLost() {
		h.flow.Finish(c, why)
	}
}
