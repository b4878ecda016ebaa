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

// attributes gives a child a process group of its own, and has the kernel, if it may, kill the child
// when the OS thread that starts it ends.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if mayKill() == nil {
		a.Pdeathsig = syscall.SIGKILL
	}
	return a
}

// mayKill says why the kernel may not kill children with their parent; nil: it may. A child of Go's that is to die so
// compares the two numbers, and kills process -1, which is every one, if it is told no number of its own.
func mayKill() error {
	if os.Getpid() < 0 || os.Getppid() < 0 {
		return os.NewSyscallError("getppid", unix.ENOSYS)
	}
	_, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0) // changes nothing
	return os.NewSyscallError("prctl", err)
}

// ofChild are the system calls that a child makes before it is another program, and may be refused; each made so that it
// changes nothing, and fails otherwise if it is not.
var ofChild = []struct {
	name string
	try  func() error
}{
	{"setpgid", func() error { return unix.Setpgid(math.MaxInt32, 0) }},
	{"chdir", func() error { return unix.Chdir("") }},
	{"dup3", func() error { return unix.Dup3(-1, math.MaxInt32, 0) }},
}

// explain names the system call by which a child was not started: the error of package os does not. last is the one if it
// is none of ofChild; empty: it is not known.
func explain(err error, last string) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) || !kernel.Refuses(errno) {
		return err
	}
	for _, call := range ofChild {
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
