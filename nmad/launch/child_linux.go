package launch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
)

// attributes returns how a child is started: in a process group of its own, and, if the kernel allows, killed when
// the OS thread that starts it ends.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if checkDeathSignal() == nil {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// checkDeathSignal returns why the kernel cannot kill children when their parent's thread ends; nil: it can. Where
// a process sees no process ids of its own, Go's child would kill process -1, which means all processes.
func checkDeathSignal() error {
	if os.Getpid() < 0 || os.Getppid() < 0 {
		return os.NewSyscallError("getppid", unix.ENOSYS)
	}
	_, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0) // changes nothing
	return os.NewSyscallError("prctl", err)
}

// childCalls are system calls that a child makes before it runs its program, and that may be refused. Each try is
// made such that it changes nothing, and fails with another error if it is not refused.
var childCalls = []struct {
	name string
	try  func() error
}{
	{"setpgid", func() error { return unix.Setpgid(math.MaxInt32, 0) }},
	{"chdir", func() error { return unix.Chdir("") }},
	{"dup3", func() error { return unix.Dup3(-1, math.MaxInt32, 0) }},
}

// nameStartError names the system call by which the start of a child was refused, which package os does not. last is
// the call if it is none of childCalls; empty: it is not known.
func nameStartError(err error, last string) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) || !kernel.Refuses(errno) {
		return err
	}
	for _, call := range childCalls {
		if call.try() == error(errno) {
			last = call.name
			break
		}
	}
	if last == "" {
		return err
	}
	return fmt.Errorf("%w: %w", err, kernel.Explain(os.NewSyscallError(last, errno)))
}

// awaitExit blocks until the child with that pid has ended, without reaping it. It returns false if it cannot wait.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// stopHere stops this process. The signal goes to the calling thread, so that this thread does nothing more before
// the process is continued. Go's runtime would handle SIGTSTP itself, and not stop.
func stopHere() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP) // we exist, and may signal ourselves
}

// isStopped reports whether a process was stopped by a signal, and not by a debugger.
func isStopped(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.HasPrefix(text[bytes.LastIndexByte(text, ')')+1:], []byte(" T ")) // the name before it may hold anything
}
