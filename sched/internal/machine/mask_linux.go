package machine

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Mask is what the process may use, read before anything is bound.
var Mask = func() (m unix.CPUSet) {
	if unix.SchedGetaffinity(0, &m) != nil || m.Count() == 0 {
		for i := range runtime.NumCPU() {
			m.Set(i)
		}
	}
	return m
}()

// IsUsable tells whether the process may use a CPU.
func IsUsable(cpu int) bool { return Mask.IsSet(cpu) }

// Widen lets an OS thread, which may be gone, use all CPUs of the process again; 0: the calling one.
func Widen(tid int) { _ = unix.SchedSetaffinity(tid, &Mask) }

// Widened calls f while the calling OS thread may use all CPUs of the process.
func Widened(f func()) {
	var m unix.CPUSet
	if unix.SchedGetaffinity(0, &m) == nil && m != Mask && unix.SchedSetaffinity(0, &Mask) == nil {
		defer func() { _ = unix.SchedSetaffinity(0, &m) }()
	}
	f()
}

// IsBound tells whether the calling OS thread is bound to one CPU, unlike the process.
func IsBound() bool {
	var m unix.CPUSet
	return unix.SchedGetaffinity(0, &m) == nil && m.Count() == 1 && Mask.Count() > 1
}

// OnFirstThread tells whether the calling OS thread is the process's first, which is not for
// us and cannot end.
func OnFirstThread() bool { return unix.Gettid() == unix.Getpid() }

// Monotonic is CLOCK_MONOTONIC, in ns, which the processes of a machine share.
func Monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// DiesWithParent tells whether the child gets a signal when the OS thread that started it ends.
func DiesWithParent(cmd *exec.Cmd) bool {
	return cmd.SysProcAttr != nil && cmd.SysProcAttr.Pdeathsig != 0
}
