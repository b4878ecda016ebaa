package nmad

import (
	"fmt"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// String describes the gates that have links, of all domains, as they are now, to find out why a request does not end:
// what is pending, what waits for room, credit or the other side, whether a sleeper sleeps on the links, and what these
// say of themselves. It does not wait: of a gate whose lock is held it says just that. For people; the text changes.
func (s *Session) String() string {
	if !s.made() {
		return "nmad: no session"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "nmad: rank %d of %d", s.cfg.Rank, s.cfg.Size)
	if s.cfg.crowded.Load() {
		b.WriteString(", whose processes share CPUs")
	}
	for _, d := range s.domains.all() {
		if d.number > 0 {
			fmt.Fprintf(&b, "\n%v", d)
		}
		for g := range d.all {
			if h := g.tryLock(); h != nil {
				h.describe(&b)
				h.drop()
			} else {
				fmt.Fprintf(&b, "\ngate to rank %d%s: its lock is held", g.rank, g.between())
			}
		}
	}
	return b.String()
}

// between names the domains that the gate is between, unless both are that of the job.
func (g *Gate) between() string {
	here, there := g.domain.number, g.far
	if g.rank == g.own {
		there = here
	}
	switch {
	case here == 0 && there == 0:
		return ""
	case here == there:
		return fmt.Sprintf(", domain %d", here)
	default:
		return fmt.Sprintf(", domain %d to %d", here, there)
	}
}

// describe is String for one gate.
func (h *held) describe(b *strings.Builder) {
	f := &h.flow
	requests, _ := f.Pending()
	if !h.linked() && requests == 0 {
		return
	}
	fmt.Fprintf(b, "\ngate to rank %d%s: %d pending, moving %d in and %d out; inbox: %d due, more %v", h.g.rank, h.g.between(),
		requests, f.Moving(flow.Pull), f.Moving(flow.Push), h.g.inbox.due.Load(), h.g.inbox.left())
	if h.end != nil {
		fmt.Fprintf(b, "; ended: %v", h.end)
	}
	fmt.Fprintf(b, "\n\tout: something %v, not tried %v, waits for room %v; the engine counts requests %v, bytes %v",
		f.Outgoing(), f.Unsent(), f.WantsRoom(), h.needing, h.holding)
	fmt.Fprintf(b, "\n\t%+v", f.Ledger())
	for i := range h.g.rails {
		l := &h.g.rails[i]
		fmt.Fprintf(b, "\n\trail %s: a sleeper sleeps %v, for room %v, in vain %v; transfers idle %v", l.name, l.armed, l.armedRoom, l.deaf, l.inactive())
		if link, ok := l.link.(fmt.Stringer); ok && l.inactive() { // else a copier is inside
			fmt.Fprintf(b, "\n\t%v", link)
		}
	}
}
