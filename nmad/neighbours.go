package nmad

import (
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/cpus"
	"github.com/pm2-go/pm2/nmad/internal/roster"
	"github.com/pm2-go/pm2/sched/topo"
)

// neighbours are the processes of the job that run on this one's host, as the cards of all tell. Several ranks may be
// sessions of one process, which then has one place. Processes in different name spaces of pids on one host share its
// processors all the same.
type neighbours struct {
	index, count   int  // this process among them, in the order of their ranks
	sameCPUs       bool // all may use the same processors
	oversubscribed bool // those with which it shares processors are more than these are
}

// ownCPUs is what a card says of the processors of this process; empty: it is not known, or too long to tell.
func ownCPUs() string {
	set, err := topo.ProcessAffinity()
	text := set.String()
	if err != nil || len(text) > roster.MaxCPUs {
		return ""
	}
	return text
}

// neighboursOf finds those of the process that has a rank.
func neighboursOf(cards []roster.Card, rank int) (n neighbours) {
	type process struct {
		space string
		pid   int
	}
	mine := cards[rank]
	own, err := topo.ParseCPUList(mine.CPUs)
	host := bootOf(mine)
	if err != nil || own.Empty() || host == "" {
		return neighbours{count: 1}
	}
	n.sameCPUs = true
	sharing, all := 0, own
	seen := map[process]bool{}
	for _, c := range cards {
		p := process{c.Host, c.PID}
		if bootOf(c) != host || seen[p] {
			continue
		}
		seen[p] = true
		if p == (process{mine.Host, mine.PID}) {
			n.index = n.count
		}
		n.count++
		theirs, err := topo.ParseCPUList(c.CPUs)
		n.sameCPUs = n.sameCPUs && err == nil && theirs.Equal(own)
		if theirs.Intersects(own) {
			sharing++
			all = all.Or(theirs)
		}
	}
	n.oversubscribed = sharing > all.Count()
	return n
}

// bootOf is the kernel that runs a process; empty: it is not known.
func bootOf(c roster.Card) string {
	boot, _, _ := strings.Cut(c.Host, "/")
	return boot
}

// settleIn takes this process's share of the processors of its host, as a launcher of ours has it, if the environment has
// told it of the job and what has started it has not bound it. The threads of a scheduler that runs already have their
// places, and keep them. Where processes share processors it has their waits yield.
func (s *Session) settleIn(cards []roster.Card) {
	c := &s.cfg
	n := neighboursOf(cards, c.Rank)
	if n.oversubscribed {
		c.SharedCPUs = true
		shareCPUs()
	}
	c.oversubscribed.Store(c.SharedCPUs)
	if c.fromEnv == nil || c.Unbound || n.count < 2 || !n.sameCPUs || marcel.Running() || !cpus.Inherited() {
		return
	}
	if all, err := cpus.Usable(); err == nil {
		if shares := cpus.Share(all, n.count); shares != nil { // else the kernel says nothing of any
			_ = topo.CPUs(shares[n.index]...).BindProcess() // where that is forbidden the process stays unbound
		}
	}
}

// hostIdentity names this host and the pid name space in it: processes with
// equal ones see each other's pids. The boot id is unique per start of a kernel.
func hostIdentity() string {
	boot, _ := kernel.Boot()
	return boot + "/" + kernel.Space("pid")
}
