// Package fairness measures how late threads run on a VP whose CPU they share with CPU-bound threads, which compute and
// never yield, and are stopped after each slice.
//
// One VP is bound to one CPU. When each of several CPU-bound threads has been stopped once, a thread waits in a
// semaphore, which a plain goroutine releases once a millisecond: the delay is from just before the release to the
// thread's first step after it. Then the thread sleeps for a millisecond again and again: the delay is by how much it
// oversleeps, and includes the clock's. Every release has its own time stamp, so a thread that lags behind counts for
// each of those that it missed.
//
// The same is done with the kernel's slices left alone (Config.NoKernelSlices), and, as a peer, with goroutines under
// GOMAXPROCS=2: one P for the CPU-bound ones and the one that waits, as one VP has one CPU, and one for its waker.
package fairness
