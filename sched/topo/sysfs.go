package topo

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pm2-go/pm2/asm"
)

const (
	cpuDir  = "sys/devices/system/cpu"
	nodeDir = "sys/devices/system/node"
)

// readMachine reads the /sys and /proc below fsys's root. If the machine is this one, mask is the affinity mask that
// applies beside the cgroup, and processor tells the caches that sysfs may lack; of a recorded machine both are nil.
func readMachine(fsys fs.FS, name string, mask *CPUSet, processor func() []statedCache) (*Topology, error) {
	b := &treeBuilder{topology: &Topology{Name: name}}
	// On machines with many CPUs the kernel asks each of them before it shows /proc/cpuinfo.
	info := sync.OnceValue(func() cpuInfo { return readCPUInfo(fsys) })
	if mask != nil {
		b.topology.Model = asm.Brand()
	}
	if b.topology.Model == "" {
		b.topology.Model = info().model
	}
	b.findOnline(fsys)
	if b.online.Empty() {
		b.online = info().cpus()
	}
	if b.online.Empty() {
		return nil, fmt.Errorf("topo: %s: neither %s nor proc/cpuinfo names a CPU", name, cpuDir)
	}
	b.limit(fsys, mask)
	if !b.readCPUs(fsys) {
		b.addInfo(info())
	}
	b.readCaches(fsys)
	if processor != nil {
		b.completeCaches(processor, info)
	}
	b.drop(Cluster, L2, L3) // such a cluster says nothing that the cache does not
	b.readNodes(fsys)
	b.rank(fsys)
	b.build()
	return b.topology, nil
}

// numbered lists the numbers that dir has entries for, each named by the prefix and one of them, in ascending order.
func numbered(fsys fs.FS, dir, prefix string) (numbers []int) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		n, err := strconv.Atoi(digits)
		if ok && err == nil && n >= 0 && n < MaxCPUs && strconv.Itoa(n) == digits {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// cpuFile is the path of a file of one CPU.
func cpuFile(cpu int, parts ...string) string {
	return path.Join(append([]string{cpuDir, "cpu" + strconv.Itoa(cpu)}, parts...)...)
}

// findOnline finds the CPUs that work. Old kernels have no list of them, and the oldest do not say it in sysfs at all.
func (b *treeBuilder) findOnline(fsys fs.FS) {
	present := numbered(fsys, cpuDir, "cpu")
	listed, ok := readList(fsys, cpuDir+"/online")
	var off CPUSet
	for _, c := range present {
		state, known := readInt(fsys, cpuFile(c, "online"))
		switch {
		case known && state == 0, ok && !listed.Has(c):
			off.Add(c)
		default:
			b.online.Add(c)
		}
	}
	if len(present) == 0 {
		b.online = listed
	}
	b.topology.Offline = off
}

// limit finds which of the online CPUs, and which memory, the process may use.
func (b *treeBuilder) limit(fsys fs.FS, mask *CPUSet) {
	l := readLimits(fsys)
	b.topology.Quota = l.quota
	b.allowed = b.online
	b.mems, b.anyMem = l.mems, !l.hasMems
	apply := func(what string, s CPUSet) {
		if both := b.allowed.And(s); !both.Empty() {
			b.allowed = both
		} else {
			b.remark("the %s allows CPUs %s only, none of which works: not obeyed", what, s)
		}
	}
	if mask != nil {
		apply("affinity mask", *mask)
	}
	if l.hasCPUs {
		apply("cpuset", l.cpus)
	}
}

// readCPUs adds packages, dies, clusters and cores as the CPUs' topology folders state them, and reports whether there
// were any.
func (b *treeBuilder) readCPUs(fsys fs.FS) (found bool) {
	var seen [kinds]CPUSet // whose item of that kind is known already
	for c := range b.online.All() {
		dir := cpuFile(c, "topology")
		look := func(k Kind, idName string, names ...string) {
			if seen[k].Has(c) {
				return
			}
			for i := range names {
				names[i] = path.Join(dir, names[i])
			}
			set, ok := readMask(fsys, names...)
			if !ok {
				return
			}
			found = true
			set.Add(c) // some forget it
			set = set.And(b.online)
			if k == Core {
				set = b.sameCore(fsys, c, set)
			}
			seen[k] = seen[k].Or(set)
			b.add(machinePart{kind: k, os: readID(fsys, path.Join(dir, idName)), cpus: set})
		}
		look(Package, "physical_package_id", "package_cpus", "core_siblings")
		look(Die, "die_id", "die_cpus")
		look(Cluster, "cluster_id", "cluster_cpus")
		look(Core, "core_id", "core_cpus", "thread_siblings")
	}
	// Kernels list dies that are whole packages, and clusters that are single cores, whole dies or whole packages, where
	// there are none.
	b.drop(Die, Package, Core)
	b.drop(Cluster, Package, Core, Die)
	return found
}

// sameCore takes out of a set of hardware threads those whose core has another number than c's: what some kernels call
// threads are the cores of one AMD compute unit.
func (b *treeBuilder) sameCore(fsys fs.FS, c int, threads CPUSet) CPUSet {
	mine, ok := readInt(fsys, cpuFile(c, "topology", "core_id"))
	if !ok {
		return threads
	}
	same := CPUs(c)
	for t := range threads.All() {
		if id, ok := readInt(fsys, cpuFile(t, "topology", "core_id")); ok && id == mine {
			same.Add(t)
		}
	}
	return same
}
