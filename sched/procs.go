package sched

import (
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// LWPs hold Go's Ps. So that the program's goroutines, the collector and the
// timer thread keep theirs, each scheduler raises GOMAXPROCS by what it may
// occupy, and lowers it again when it stops.
var procs struct {
	mu    sync.Mutex
	base  int // before the first raise
	extra int
}

// RaiseProcs raises GOMAXPROCS by n, for somebody else whose threads occupy so many of
// Go's Ps. lower takes it back; to be called once.
func RaiseProcs(n int) (lower func()) {
	raiseProcs(n)
	return func() { lowerProcs(n) }
}

func raiseProcs(n int) {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if procs.extra == 0 {
		procs.base = runtime.GOMAXPROCS(0)
	}
	procs.extra += n
	runtime.GOMAXPROCS(procs.base + procs.extra)
}

func lowerProcs(n int) {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	procs.extra -= n
	if procs.extra == 0 && os.Getenv("GOMAXPROCS") == "" && procs.base == runtime.NumCPU() {
		defaultProcs() // the runtime follows cgroup limits again
		return
	}
	runtime.GOMAXPROCS(procs.base + procs.extra)
}

// defaultProcs sets GOMAXPROCS as at the start of the program. The runtime counts
// the CPUs that the calling OS thread may use, and that may be bound: by the
// program, or because it was cloned from an LWP's and nobody has noticed yet.
func defaultProcs() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var m cpuSet
		if unix.SchedGetaffinity(0, &m) == nil && m != processMask && unix.SchedSetaffinity(0, &processMask) == nil {
			defer func() { _ = unix.SchedSetaffinity(0, &m) }()
		}
		runtime.SetDefaultGOMAXPROCS()
	}()
	<-done
}
