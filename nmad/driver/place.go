package driver

import "github.com/pm2-go/pm2/sched/topo"

// Place says near which processors a link lies, on a machine where that makes a difference.
type Place struct {
	Node int         // NUMA node, by its number in the system; -1: none in particular
	CPUs topo.CPUSet // of this process, from which polling the link is cheap; empty: any of them
	Why  string      // how that was decided, or why not; for people
}
