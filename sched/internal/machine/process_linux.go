package machine

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// OnFirstThread reports whether the calling OS thread is the process's first, which is not for us and cannot end.
func OnFirstThread() bool { return unix.Gettid() == unix.Getpid() }

// Monotonic is CLOCK_MONOTONIC, in ns, which the processes of a machine share.
func Monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// DiesWithParent reports whether the child gets a signal when the OS thread that started it ends.
func DiesWithParent(cmd *exec.Cmd) bool {
	return cmd.SysProcAttr != nil && cmd.SysProcAttr.Pdeathsig != 0
}
