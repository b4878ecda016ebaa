// Package machine tells what the process may use of the machine (CPUs, OS threads), and raises GOMAXPROCS by the Ps
// that the scheduler's OS threads occupy.
package machine

// MaxThreads is how many OS threads ThreadBound answers at most.
const MaxThreads = 4096
