package numa

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/sched/topo"
)

// mostLower is how many devices below one are followed: of a VLAN on a bond of ports.
const mostLower = 3

// Device is where a link lies that goes through a network device, as sysfs, which is at the root of
// fsys, has it, on machine t, for a process that may use cpus.
func Device(fsys fs.FS, t *topo.Topology, cpus topo.CPUSet, name string) driver.Place {
	if single(t) {
		return one
	}
	node := deviceNode(fsys, name, mostLower)
	if node < 0 {
		return driver.Place{Node: -1, Why: fmt.Sprintf("the network device %s belongs to no NUMA node", name)}
	}
	for _, n := range nodes(t, cpus) {
		if n.OS == node {
			return driver.Place{Node: node, CPUs: cpus.And(n.CPUs), Why: fmt.Sprintf("the network device %s is there", name)}
		}
	}
	return driver.Place{Node: node, Why: fmt.Sprintf("the network device %s is there, and no processor of this process", name)}
}

// deviceNode gives the node of a network device; if it has no hardware of its own, as a bond, a VLAN,
// a bridge, that of the devices below it, as far as they agree. -1: none.
func deviceNode(fsys fs.FS, name string, depth int) int {
	if name == "" || depth == 0 || !fs.ValidPath(name) || strings.Contains(name, "/") {
		return -1
	}
	dir := path.Join("class/net", name)
	if text, err := fs.ReadFile(fsys, path.Join(dir, "device/numa_node")); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return n
		}
		return -1
	}
	node := -1
	entries, _ := fs.ReadDir(fsys, dir) // without any there is nothing below
	for _, e := range entries {
		lower, ok := strings.CutPrefix(e.Name(), "lower_")
		if !ok {
			continue
		}
		n := deviceNode(fsys, lower, depth-1)
		if n < 0 || node >= 0 && n != node {
			return -1
		}
		node = n
	}
	return node
}
