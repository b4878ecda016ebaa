// Package machine is what the process may use of the machine, and what it takes of it for OS
// threads of its own: the CPUs of its mask, the number of OS threads, Go's Ps.
package machine

// MaxThreads is how many OS threads ThreadBound answers at most.
const MaxThreads = 4096
