package sched

import (
	"fmt"
	"io"

	"github.com/pm2-go/pm2/sched/direct"
)

// Dump writes what each VP and each OS thread does, to find a thread that does not move. The figures are racy: they
// change while Dump reads them, so it reads each pointer once.
//
//go:norace
func (s *Scheduler) Dump(w io.Writer) {
	fmt.Fprintf(w, "%d threads alive, wants %#x\n", s.Alive(), s.wants.Load())
	for _, v := range s.vps {
		fmt.Fprintf(w, "VP %d: %s by LWP %d, queue %d, inbox %v, asleep %v, waking %v, kicked %v, away %d, seized %d, tick %d, seizures %d, stolen %d, off %v, threads on nodes %d\n",
			v.id, stateNames[v.mode()], v.word.holder(), v.queueLen(), v.inbox.Load() != nil,
			v.idle.asleep(), v.idle.waking(), v.idle.kicked(), v.numBlocking.Load(), v.numSeized.Load(), v.tick, v.seizures, v.stolen, v.disabled.Load(), s.placed.Load())
	}
	s.root.dump(w)
	for _, l := range s.lwps.list() {
		fmt.Fprintf(w, "  LWP %d of VP %d: OS thread %d, order %d, in the Sleeper %v", l.id, l.vp.id, l.tid.Load(), l.wake.Load(), l.inSleeper.Load())
		if b := l.base; b != nil {
			fmt.Fprintf(w, ", base %s", b.standing())
		}
		for what, t := range map[string]*thread{"first": l.seed, "handed on": l.displaced} {
			if t != nil {
				fmt.Fprintf(w, ", %s: thread %d", what, t.id)
			}
		}
		for what, c := range map[string]*co{"alone": l.blockingCo.Load(), "passed the VP": l.recipient, "preempted": l.preempted} {
			if c != nil {
				if t := c.cur; t != nil {
					fmt.Fprintf(w, ", %s: thread %d", what, t.id)
				}
			}
		}
		fmt.Fprintln(w)
	}
	for _, c := range registered.all() {
		t := c.cur
		if t == nil {
			continue
		}
		if vp := t.vp; vp != nil && vp.sched == s {
			on := "no LWP"
			if l := c.l; l != nil && l.id != 0 && c.id != lostID {
				on = fmt.Sprintf("LWP %d", l.id)
			}
			fmt.Fprintf(w, "  thread %d of VP %d, on %s: %s, in a queue %v, spins %d\n", t.id, vp.id, on, c.standing(), t.waiter.queue != nil, t.waiter.spins)
		}
	}
}

// dump writes how many threads wait on n, and on the nodes below it.
func (n *queueNode) dump(w io.Writer) {
	if n.count.Load() > 0 {
		fmt.Fprintf(w, "  on the queue of %s (%d VPs): %d threads\n", n.name(), len(n.vps), n.count.Load())
	}
	for _, d := range n.down {
		d.dump(w)
	}
}

// standing says what c is to the runtime, and to us: racy, for Dump.
//
//go:norace
func (c *co) standing() string {
	g := c.seat.G
	what := fmt.Sprintf("g %#x", g)
	if isDirect && g != 0 {
		what += fmt.Sprintf(" of status %d", direct.Status(g))
	}
	what += fmt.Sprintf(", inside %d, to be resumed as %d", c.inside, c.resumeAs)
	if l := c.l; l != nil {
		if vp := l.vp; vp != nil && vp.cur == c {
			what += ", current"
		}
	}
	if j := c.joiner; j != nil {
		if t := j.cur; t != nil {
			what += fmt.Sprintf(", thread %d waits for its end", t.id)
		}
	}
	return what
}
