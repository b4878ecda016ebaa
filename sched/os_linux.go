package sched

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// processMask is what the process may use, read before anything is bound.
var processMask = func() (m unix.CPUSet) {
	if unix.SchedGetaffinity(0, &m) != nil || m.Count() == 0 {
		for i := range runtime.NumCPU() {
			m.Set(i)
		}
	}
	return m
}()

// isUsable tells whether the process may use a CPU.
func isUsable(cpu int) bool { return processMask.IsSet(cpu) }

// widen lets an OS thread, which may be gone, use all CPUs of the process again; 0: the calling one.
func widen(tid int) { _ = unix.SchedSetaffinity(tid, &processMask) }

// widened calls f while the calling OS thread may use all CPUs of the process.
func widened(f func()) {
	var m unix.CPUSet
	if unix.SchedGetaffinity(0, &m) == nil && m != processMask && unix.SchedSetaffinity(0, &processMask) == nil {
		defer func() { _ = unix.SchedSetaffinity(0, &m) }()
	}
	f()
}

// isBound tells whether the calling OS thread is bound to one CPU, unlike the process.
func isBound() bool {
	var m unix.CPUSet
	return unix.SchedGetaffinity(0, &m) == nil && m.Count() == 1 && processMask.Count() > 1
}

// onFirstThread tells whether the calling OS thread is the process's first, which is not for
// us and cannot end.
func onFirstThread() bool { return unix.Gettid() == unix.Getpid() }

// Monotonic is CLOCK_MONOTONIC, in ns, which the processes of a machine share.
func Monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// diesWithParent tells whether the child gets a signal when the OS thread that started it ends.
func diesWithParent(cmd *exec.Cmd) bool {
	return cmd.SysProcAttr != nil && cmd.SysProcAttr.Pdeathsig != 0
}
