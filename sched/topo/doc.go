// Package topo knows the machine: which CPUs the process may use, and which caches, NUMA nodes and packages they share.
//
//	Machine                                        the root
//	├─ NUMA 0 ──── Package 0 ─┐                    or NUMA nodes inside packages:
//	│                         L3                   the larger is outside
//	│            ┌────────────┴────────────┐
//	│            L2                        L2
//	│            L1                        L1
//	│            Core 0                    Core 1
//	│         ┌──┴──┐                   ┌──┴──┐
//	│       PU 0   PU 2               PU 1   PU 3  leaves: usable CPUs only
//	├─ NUMA 1 ...
//	└ ─ Outside: memory whose CPUs may not be used, or that has none
//
// A [Topology] is a tree of items. The CPUs of an item's children are disjoint and make up its own; PUs stand in an
// order in which near ones are neighbors, and those of each item follow one another. Levels are not regular: two cores
// of a hybrid processor differ in what is above them, and a level may be missing. [Item.Outermost] and
// [Topology.Pruned] take away what has no siblings, as run queues want it; [Topology.Common] and [Topology.Covering]
// find the item that two PUs, or a set of CPUs, have in common.
//
// [Discover] describes this machine, [Recorded] and [RecordedFile] one whose /sys and
// /proc were copied, [Synthetic] one that is written down: "numa:4 l3:1 core:4 pu:1". All
// give the same values, so that whatever works on one can be tried on the others.
//
// # Sources of truth, in order
//
//  1. sched_getaffinity, of the process as it started: what is not in the mask is not
//     in the tree. Then the cpuset of the cgroup (version 1 and 2; memory nodes, too), and
//     its quota of time: [Topology.Parallelism] is the smaller of CPUs and quota.
//  2. /sys/devices/system/cpu: which CPUs are online; packages, dies, clusters, cores and
//     caches as masks. Masks are believed rather than lists, for every kernel writes
//     them. A core ends where core_id differs: kernels took the cores of an AMD
//     compute unit for threads.
//  3. /sys/devices/system/node: NUMA nodes, memory, distances, the CPUs nearest to memory
//     that has none. Without it there is one node.
//  4. /proc/cpuinfo: the processor's name, and packages and cores where sysfs has none.
//  5. CPUID (amd64; of this machine, not of a recorded one): caches of a level of which sysfs
//     lists none, as in some virtual machines, and sizes that sysfs does not tell. CPUs share
//     such a cache by their APIC IDs from /proc/cpuinfo, within a package; without IDs,
//     consecutive CPUs do. Of a hybrid processor nothing is taken, for its CPUs differ.
//
// The tree is made of all CPUs that are online, and cut down to the usable ones after that: what contains what does not
// depend on which CPU asks. Where two sets overlap in part, the larger one stays and [Topology.Remarks] tells of the
// other. Nothing that a file says can make the reader fail, loop or use more than bounded time and memory.
//
// What is not in the tree: caches for instructions, caches of level 4, books and drawers of s390, memory-side caches,
// caches that old PowerPC kernels state in the device tree only. The recordings in testdata, and how they are compared
// with the listings of hwloc, are described there.
//
// # What ghw is for
//
// github.com/jaypipes/ghw reads the same machine another way. It is asked in package
// [github.com/pm2-go/pm2/sched/topo/crosscheck] only, which compares and names what ghw gets wrong: the sizes of L1
// caches, nodes that it does not find, CPUs that may not be used. It takes five times as long as Discover.
package topo
