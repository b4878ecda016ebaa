package topo

import "os"

// Quota returns how many CPUs' worth of time the process's cgroup grants it, such as 1.5, and whether there is a limit
// at all. It reads cpu.max (version 2) or cpu.cfs_quota_us and cpu.cfs_period_us (version 1) of the cgroup and of all
// above it that the mount shows; the smallest counts. What it cannot read does not limit.
func Quota() (cpus float64, ok bool) {
	q := findCgroups(os.DirFS("/")).quota()
	return q, q > 0
}

// TasksLeft returns how many more threads the process's cgroup lets it start (the pids controller), and whether there
// is a limit at all. It reads pids.max and pids.current of the cgroup and of all above it that the mount shows; the
// tightest counts. Other processes of these cgroups may start threads at any time.
func TasksLeft() (n int, ok bool) {
	left, ok := smallest(findCgroups(os.DirFS("/")), "pids", readTasks)
	return int(min(left, 1<<30)), ok
}
