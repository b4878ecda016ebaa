package launch

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes gives a child a process group of its own, and has the kernel kill it
// when the OS thread that starts it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitDeath returns true when the child with that pid has ended, without reaping
// it; false if that cannot be waited for.
func awaitDeath(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// stopHere stops this process. The signal is for the calling thread, so that it does nothing more before the
// process is continued. SIGTSTP itself would be handled by Go's runtime, which leaves it at that.
func stopHere() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP) // we exist, and may signal ourselves
}

// stopped says whether a process was stopped by a signal, and not by a debugger.
func stopped(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.HasPrefix(text[bytes.LastIndexByte(text, ')')+1:], []byte(" T ")) // the name before it may hold anything
}
