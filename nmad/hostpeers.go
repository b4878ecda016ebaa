package nmad

import (
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/internal/cpus"
	"github.com/pm2-go/pm2/nmad/internal/roster"
	"github.com/pm2-go/pm2/sched/topo"
)

// hostPeers describes the processes of the job that run on the host of this one, this one included, as the cards of
// all processes tell. Several ranks may be sessions of one process, which counts once. Processes in different PID name
// spaces of one host count, because they share its processors.
type hostPeers struct {
	index, count   int  // this process among them, in the order of their ranks
	sameCPUs       bool // all may use the same processors
	oversubscribed bool // those with which it shares processors are more than these are
}

// ownCPUs returns the processors of this process for its card; "" if they are not known, or the text is too long.
func ownCPUs() string {
	set, err := topo.ProcessAffinity()
	text := set.String()
	if err != nil || len(text) > roster.MaxCPUs {
		return ""
	}
	return text
}

// hostPeersOf returns the host peers of the process of a rank.
func hostPeersOf(cards []roster.Card, rank int) (n hostPeers) {
	type process struct {
		space string
		pid   int
	}
	mine := cards[rank]
	own, err := topo.ParseCPUList(mine.CPUs)
	host := bootOf(mine)
	if err != nil || own.Empty() || host == "" {
		return hostPeers{count: 1}
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

// bootOf returns the boot id of the kernel that runs a process; "" if it is not known.
func bootOf(c roster.Card) string {
	boot, _, _ := strings.Cut(c.Host, "/")
	return boot
}

// settleIn binds this process to its share of the processors of its host, as our launcher does, if the environment
// tells of the job and the process was not bound when it was started. It does not if a scheduler of threads runs,
// because the threads of that scheduler are already placed. If processes share processors, settleIn makes the waits of
// this process yield.
func (s *Session) settleIn(cards []roster.Card) {
	c := &s.cfg
	n := hostPeersOf(cards, c.Rank)
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

// hostIdentity identifies this host and a PID name space of it: processes with the same one see each other's PIDs. The
// boot id is unique for each start of a kernel.
func hostIdentity() string {
	boot, _ := kernel.Boot()
	return boot + "/" + kernel.Space("pid")
}
