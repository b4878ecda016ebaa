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

// maxLower is how many devices below one are followed: of a VLAN on a bond of ports.
const maxLower = 3

// Device returns where a link lies that goes through the network device name, for a process that may use cpus on
// machine t. fsys is sysfs.
func Device(fsys fs.FS, t *topo.Topology, cpus topo.CPUSet, name string) driver.Locality {
	if isSingle(t) {
		return singleNode
	}
	node := deviceNode(fsys, name, maxLower)
	if node < 0 {
		return driver.Locality{Node: -1, Why: fmt.Sprintf("the network device %s belongs to no NUMA node", name)}
	}
	for _, n := range nodes(t, cpus) {
		if n.OS == node {
			return driver.Locality{Node: node, CPUs: cpus.And(n.CPUs), Why: fmt.Sprintf("the network device %s is there", name)}
		}
	}
	return driver.Locality{Node: node, Why: fmt.Sprintf("the network device %s is there, and no processor of this process", name)}
}

// deviceNode returns the node of a network device; -1 if it has none. A device without hardware of its own, such
// as a bond, a VLAN or a bridge, has the node of the devices below it, if they agree.
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
