package nmad

import (
	"fmt"
	"math"
	"strings"
)

// Protocol is how messages of a range of sizes travel through a gate.
type Protocol struct {
	From, To uint64 // bytes; To is math.MaxUint64 where there is no end
	Name     string // "eager", "rendezvous", ...
	Rail     string // name of the driver; of several rails all that may carry a part of it, see Gate.Rails
	Why      string // where the bounds come from: default, environment, configuration, measured
}

// Protocols tells which protocol messages of which size take through this gate, and why:
// a table in order of size, without gaps. A synchronous send takes the rendezvous at
// any size, and so does a short message for which the receiver has no memory left. A gate
// that has no links yet does not know more than that it will make them: see Link.
func (g *Gate) Protocols() []Protocol {
	if !g.made() {
		return nil
	}
	g.mu.lock()
	defer g.release()
	if g.link == nil {
		return []Protocol{
			{0, selfEager, "copy, if early", "self", "default: a short message is copied aside until its receive is there"},
			{selfEager + 1, math.MaxUint64, "copy", "self", "default: a long message waits for its receive and is copied once"},
		}
	}
	if g.linking != nil && g.linking.stage != linked {
		return []Protocol{{0, math.MaxUint64, "link, then as it says", g.railNames(), "nothing was sent yet"}}
	}
	eager := uint64(g.tx.eager)
	why := g.why
	if g.tx.eager == g.tx.room {
		why = fmt.Sprintf("default: the largest packet of %s", g.rails[0].name)
		if g.why != "" {
			why = fmt.Sprintf("%s, as far as the largest packet of %s goes", g.why, g.rails[0].name)
		}
	}
	return []Protocol{
		{0, eager, "eager", g.rails[0].name, why},
		{eager + 1, math.MaxUint64, "rendezvous", g.railNames(), why},
	}
}

func (g *Gate) railNames() string {
	names := make([]string, len(g.rails))
	for i := range g.rails {
		names[i] = g.rails[i].name
	}
	return strings.Join(names, ", ")
}
