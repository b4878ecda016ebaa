package topo

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// readNodes adds the NUMA nodes, their memory and their distances. A machine whose kernel lists none has one, with
// everything.
func (b *treeBuilder) readNodes(fsys fs.FS) {
	nodes := numbered(fsys, nodeDir, "node")
	online, listed := readList(fsys, nodeDir+"/online")
	gpu := gpuNodes(fsys)
	nodes = slices.DeleteFunc(nodes, func(n int) bool {
		return listed && !online.Empty() && !online.Has(n) || gpu.Has(n)
	})
	var known, assigned CPUSet // nodes, and the CPUs that belong to one of them
	maps := map[int]CPUSet{}
	for _, n := range nodes {
		cpus, ok := readMask(fsys, nodePath(n, "cpumap"))
		if !ok {
			continue
		}
		if cpus.Intersects(assigned) {
			b.remark("NUMA node %d claims CPUs %s, of which some belong to another: left out", n, cpus)
			continue
		}
		known.Add(n)
		assigned = assigned.Or(cpus)
		maps[n] = cpus
	}
	for n, cpus := range maps {
		p := machinePart{kind: NUMA, os: n, cpus: cpus, size: nodeMemory(fsys, n)}
		if cpus.Empty() {
			p.near = initiators(fsys, n, maps)
		}
		b.add(p)
	}
	if known.Empty() {
		text, _ := readText(fsys, "proc/meminfo")
		b.anyMem = true
		b.add(machinePart{kind: NUMA, os: 0, cpus: b.online, size: memTotal(text)})
		return
	}
	b.readDistances(fsys, online, slices.Collect(known.All()))
}

// nodePath is the path of a file of one node.
func nodePath(node int, parts ...string) string {
	return path.Join(append([]string{nodeDir, "node" + strconv.Itoa(node)}, parts...)...)
}

func nodeMemory(fsys fs.FS, node int) int64 {
	text, _ := readText(fsys, nodePath(node, "meminfo"))
	return memTotal(text)
}

// initiators finds the CPUs nearest to memory that has none of its own: those of the nodes that the kernel names.
// access1 counts CPUs only, access0 all that can use memory; older kernels have neither.
func initiators(fsys fs.FS, node int, maps map[int]CPUSet) (cpus CPUSet) {
	for _, access := range []string{"access1", "access0"} {
		near := numbered(fsys, nodePath(node, access, "initiators"), "node")
		for _, n := range near {
			cpus = cpus.Or(maps[n])
		}
		if len(near) > 0 {
			break
		}
	}
	return cpus
}

// gpuNodes are the nodes whose memory belongs to an Nvidia GPU and must be asked for through its driver.
func gpuNodes(fsys fs.FS) (nodes CPUSet) {
	const dir = "proc/driver/nvidia/gpus"
	gpus, _ := fs.ReadDir(fsys, dir)
	for _, gpu := range gpus[:min(len(gpus), 256)] {
		text, _ := readText(fsys, path.Join(dir, gpu.Name(), "numa_status"))
		if _, rest, ok := strings.Cut(text, "Node:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(firstLine(rest))); err == nil {
				nodes.Add(n)
			}
		}
	}
	return nodes
}

// readDistances reads each node's row. The rows count the nodes that are online, in order, also those that we leave
// out.
func (b *treeBuilder) readDistances(fsys fs.FS, online CPUSet, nodes []int) {
	columns := slices.Collect(online.All())
	if len(columns) == 0 {
		columns = nodes
	}
	distances := map[[2]int]int{}
	for _, from := range nodes {
		text, err := readText(fsys, nodePath(from, "distance"))
		if err != nil {
			return
		}
		row := strings.Fields(text)
		if len(row) != len(columns) {
			b.remark("NUMA node %d states %d distances to %d nodes: distances left out", from, len(row), len(columns))
			return
		}
		for i, to := range columns {
			d, err := strconv.Atoi(row[i])
			if err != nil || d < 0 {
				b.remark("NUMA node %d states the distance %q: distances left out", from, clip(row[i]))
				return
			}
			distances[[2]int{from, to}] = d
		}
	}
	b.topology.distances = distances
}

// memTotal finds "MemTotal: 123 kB" and returns bytes; 0 if it is not there.
func memTotal(text string) int64 {
	_, rest, ok := strings.Cut(text, "MemTotal:")
	if f := strings.Fields(rest); ok && len(f) > 0 {
		return parseSize(f[0] + "K")
	}
	return 0
}
