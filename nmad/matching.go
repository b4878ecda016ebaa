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

// Matches says whether m is for messages with that tag in its context.
func (mt Match) Matches(tag uint64) bool { return mt.pattern().Matches(tag) }

func (mt Match) pattern() match.Pattern { return match.Pattern{Tag: mt.Tag, Mask: mt.Mask} }

// newAny makes what the gates to a group share, in the process with the rank own. Hooks wait for its lock, so it is one
// that they may take.
func newAny(group match.Group, own int) *match.Any[flow.Request] {
	return match.NewAny[flow.Request](group, own, &marcel.SpinLock{})
}

// join has the gate share its receives from any source with others.
func (h *held) join(any *match.Any[flow.Request]) {
	h.g.any = any
	h.flow.Join(flow.Plain, any)
}
