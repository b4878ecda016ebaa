// Package raw has the system calls of the data path: non-blocking, without the Go scheduler's bookkeeping around them
// (which costs as much as the call), and without its poller. Linux only; the build elsewhere leaves the drivers that
// need it out.
//
// A caller of these keeps its P for the time of the call, which is bounded by what one call copies: never hand them a
// blocking descriptor, nor more than about a megabyte at a time, or a garbage collection waits for it. Descriptors are
// guarded by package life against being closed meanwhile.
package raw
