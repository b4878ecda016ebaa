package topo

import "os"

// Usable says what this process may use: the CPUs that its affinity mask (as it was
// when the program started) and its cgroup's cpuset allow, and how many CPUs' worth of
// time its cgroup's quota grants (0: no limit). It reads a few small files and does
// not fail: what cannot be read does not limit.
func Usable() (cpus CPUSet, quota float64) {
	l := readLimits(os.DirFS("/"))
	cpus = processMask
	// The mask obeys the cpuset already, unless that changed since.
	if both := cpus.And(l.cpus); l.hasCPUs && !both.Empty() {
		cpus = both
	}
	return cpus, l.quota
}
