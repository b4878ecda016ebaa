package sched

import (
	"fmt"
	"io"
)

// Dump writes what each VP and each OS thread does, for a person who looks for
// a thread that does not move. The figures are racy.
//
//go:norace
func (s *Scheduler) Dump(w io.Writer) {
	fmt.Fprintf(w, "%d threads alive, alert %#x, clock dormant %d\n", s.Alive(), s.alert.Load(), s.clock.dormant.Load())
	for _, v := range s.vps {
		fmt.Fprintf(w, "VP %d: %s by LWP %d, queue %d, inbox %v, idle %v, called %d, kicked %d, away %d, robbed %d, tick %d, seizures %d, stolen %d\n",
			v.id, stateNames[v.mode()], v.word.holder(), v.q.total(), v.inbox.Load() != nil,
			v.idle.Load(), v.called.Load(), v.kicked.Load(), v.away.Load(), v.robbed.Load(), v.tick, v.seizures, v.stolen)
	}
	var nodes func(n *node)
	nodes = func(n *node) {
		if n.count.Load() > 0 {
			fmt.Fprintf(w, "  on the queue of %s (%d VPs): %d threads\n", n.name(), len(n.vps), n.count.Load())
		}
		for _, d := range n.down {
			nodes(d)
		}
	}
	nodes(s.root)
	for _, l := range s.lwps.list() {
		fmt.Fprintf(w, "  LWP %d of VP %d: OS thread %d, order %d, in the Sleeper %v\n", l.id, l.vp.id, l.tid.Load(), l.wake.Load(), l.inSleeper.Load())
	}
}
