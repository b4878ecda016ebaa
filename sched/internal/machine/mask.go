package machine

import "github.com/pm2-go/pm2/sched/topo"

// UsableCPUs lists the CPUs that the process may use, as its mask was before anything was bound.
func UsableCPUs() (cpus []int) {
	for cpu := range topo.ProcessMask().All() {
		cpus = append(cpus, cpu)
	}
	return cpus
}

// IsUsable reports whether the process may use a CPU.
func IsUsable(cpu int) bool { return topo.ProcessMask().Has(cpu) }

// Widen lets an OS thread, which may be gone, use all CPUs of the process again; 0: the calling one.
func Widen(tid int) { _ = topo.ProcessMask().Bind(tid) }

// Widened calls f while the calling OS thread may use all CPUs of the process.
func Widened(f func()) {
	all := topo.ProcessMask()
	if m, err := topo.Affinity(0); err == nil && !m.Equal(all) && all.Bind(0) == nil {
		defer func() { _ = m.Bind(0) }()
	}
	f()
}

// IsBound reports whether the calling OS thread is bound to one CPU, unlike the process.
func IsBound() bool {
	m, err := topo.Affinity(0)
	return err == nil && m.Count() == 1 && topo.ProcessMask().Count() > 1
}
