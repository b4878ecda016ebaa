// Package machine is what the process may use of the machine, and what it takes of it for OS
// threads of its own: the CPUs of its mask, the number of OS threads, Go's Ps.
package machine

// MaxCPU is the number of CPUs that a mask can name.
const MaxCPU = 1024

// MaxThreads is how many OS threads ThreadBound answers at most.
const MaxThreads = 4096

// UsableCPUs lists the CPUs that the process may use.
func UsableCPUs() (cpus []int) {
	for i := range MaxCPU {
		if IsUsable(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}
