// Package callers tests what a program may do to its engine while callers of all kinds wait for messages: set
// GOMAXPROCS, run in a cgroup that has a quota of CPU time, stop the engine, and close the session. Package caller has
// the kinds. (C threads are in package foreign.)
//
// The tests start this program again as a job of two processes, whose environment says what they do.
package callers
