// Package bench measures threads, synchronization and the progress engine beside goroutines, in one run, so that each
// ratio compares two figures of the same minute.
//
// # How a row is measured
//
//	repetition 1                        repetition 2                ...   at least 5
//	[probe] ours [probe] peer [probe]   [probe] peer [probe] ours [probe]
//
// Ours runs in threads of a scheduler made for it, with one VP or two as the row's name says, each bound to a CPU of
// its own, with a progress engine on its hooks and nothing pending. The peer runs in goroutines while no scheduler
// exists, under GOMAXPROCS = 1 or 2 as named; goroutines cannot be bound, but all OS threads of the process are to the
// row's one or two CPUs, on both sides, and GOMAXPROCS is the same on both; a scheduler adds what its VPs hold. Where
// the kernel forbids to bind, neither side is bound. The peer goes first in every other repetition. Each repetition
// warms up, then times as many operations as take some 20 ms (or --time), and counts the allocations of the whole
// process meanwhile. The row shows medians with quartiles; the ratio is that of the medians.
//
// Rows that cross cores are probed (package probe) before, between and after. The machine may switch between two
// regimes; a repetition during which it did is thrown away, and only those of one regime, the one that was met more
// often, enter the row. If there are fewer than five of them the row is skipped, and says so.
//
// # Programs
//
// The rows program: ... are whole programs as people write them, each on 1 and on 2 VPs: an
// operation is one run of the program, whose result is checked.
//
//	fib                    fork and join, by Spawn and Join or by Do
//	ring, pipeline, sieve  threads pass values on, through a Mailbox; the peer's through a channel
//	pool, http.Get,        written for goroutines, with Go's channels, sync and time:
//	time.Sleep, <-ch       threads only replace the goroutines
//	mergesort              fork and join with some work in the leaves
//
// Goroutines of ours that are no threads, such as the handlers of the http server, share the row's CPUs with the VPs.
// fib(32) shows the most memory that was in use beyond what was before, <-ch the most OS threads of the process, those
// included that Go keeps from before.
//
// # Callers
//
// The rows callers: ... vary what users vary, one thing at a time: what calls, where in its page a buffer begins, sizes
// that are no powers of two, how requests are made, buffers that are new for each message, GOMAXPROCS, goroutines that
// compute on every P, one to three ranks on a core. Ours and the best case, the peer, are runs of demo pingpong, in
// turns; an operation is a message, one way, and a sample the median of a run, beside it its 90th and 99th percentile.
// Calls from C are less the crossings. A size that is no power of two is beside what a line through its neighbors'
// figures says. The ranks besides those two are other pairs, which exchange messages of the same sizes and know that
// they share their cores. Rows that differ in their sizes alone are measured in the same processes: all of them take
// five minutes. They are measured only when asked for: --rows callers.
//
// # Rows
//
// A row is a name, two functions that each perform n operations, and what the peer is. [All] lists them. Names are a
// contract with readers of the JSON.
package bench
