// Package bench measures threads, synchronisation and the progress engine beside
// goroutines, in one run, so that each ratio compares two figures of the same minute.
//
// # How a row is measured
//
//	repetition 1           repetition 2          ...   at least 5
//	[probe] ours [probe] peer [probe] ours [probe] peer [probe]
//
// Ours runs in threads of a scheduler made for it, with one VP or two as the
// row's name says, bound to the first CPUs, with a progress engine on its hooks
// and nothing pending. The peer runs in goroutines while no scheduler exists, under
// GOMAXPROCS = 1 or 2 as named. Each repetition warms up, then times as many operations
// as take some 20 ms (or --time), and counts the allocations of the whole process
// meanwhile. The row shows medians with quartiles; the ratio is that of the medians.
//
// Rows that cross cores are probed (package probe) before, between and after.
// The machine may switch between two regimes; a repetition during which it did is
// thrown away, and only those of one regime, the one that was met more often,
// enter the row. If there are fewer than five of them the row is skipped, and says so.
//
// # Rows
//
// A row is a name, two functions that each perform n operations, and what the peer
// is. [All] lists them. Names are a contract with those who read the JSON.
package bench
