package numa

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/sched/topo"
)

// singleNode is the place of everything on a machine of one node.
var singleNode = driver.Locality{Node: -1, Why: "the machine has one NUMA node"}

// Home returns where memory should lie through which messages arrive at a process that may use cpus on machine t.
// A thread on processor cpu (-1: unknown) is about to touch that memory first.
func Home(t *topo.Topology, cpus topo.CPUSet, cpu int) driver.Locality {
	if isSingle(t) {
		return singleNode
	}
	switch mine := nodes(t, cpus); len(mine) {
	case 0:
		return driver.Locality{Node: -1, Why: "it is not known to which NUMA node the processors of this process belong"}
	case 1:
		return driver.Locality{Node: mine[0].OS, CPUs: cpus.And(mine[0].CPUs), Why: "all processors of this process are there"}
	default:
		why := "this process may run on the NUMA nodes " + numbers(mine)
		for _, n := range mine {
			if n.CPUs.Has(cpu) {
				return driver.Locality{Node: n.OS, CPUs: cpus.And(n.CPUs), Why: fmt.Sprintf("%s, and the link was made on processor %d", why, cpu)}
			}
		}
		return driver.Locality{Node: -1, Why: why + ", and it is not known on which of them the link was made"}
	}
}

// isSingle reports whether at most one node has memory.
func isSingle(t *topo.Topology) bool {
	n := len(t.At(topo.NUMA))
	for _, it := range t.Outside {
		if it.Kind == topo.NUMA {
			n++
		}
	}
	return n <= 1
}

// nodes returns the nodes that have some of the processors.
func nodes(t *topo.Topology, cpus topo.CPUSet) (mine []*topo.Item) {
	for _, n := range t.At(topo.NUMA) {
		if n.CPUs.Intersects(cpus) {
			mine = append(mine, n)
		}
	}
	return mine
}

func numbers(items []*topo.Item) string {
	words := make([]string, len(items))
	for i, it := range items {
		words[i] = fmt.Sprint(it.OS)
	}
	return strings.Join(words, ", ")
}

// machine returns the topology of this machine; nil if it has one node, which one file tells.
var machine = sync.OnceValue(func() *topo.Topology {
	text, err := os.ReadFile("/sys/devices/system/node/online")
	if err != nil {
		return nil // no nodes, or no file that tells of them
	}
	if nodes, err := topo.ParseCPUList(strings.TrimSpace(string(text))); err == nil && nodes.Count() <= 1 {
		return nil
	}
	t, err := topo.Discover()
	if err != nil {
		return nil
	}
	return t
})

// Here is Home for this process and the calling thread.
func Here() driver.Locality {
	t := machine()
	if t == nil {
		return singleNode
	}
	return Home(t, t.Root.CPUs, asm.CPU())
}

// Through is Device for the network device of this host that has the address.
func Through(local net.Addr) driver.Locality {
	t := machine()
	if t == nil {
		return singleNode
	}
	a, ok := local.(*net.TCPAddr)
	if !ok {
		return driver.Locality{Node: -1, Why: "it goes through no network device"}
	}
	if a.IP.IsLoopback() {
		return driver.Locality{Node: -1, Why: "it does not leave the host"}
	}
	return Device(os.DirFS("/sys"), t, t.Root.CPUs, deviceOf(a.IP))
}

// deviceOf returns the name of the device that has an address; "" if there is none.
func deviceOf(ip net.IP) string {
	devices, _ := net.Interfaces() // without any, none has it
	for _, d := range devices {
		addrs, _ := d.Addrs()
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
				return d.Name
			}
		}
	}
	return ""
}
