//go:build linux && amd64 && !race

package syscalls

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errNoFilter: a process may not filter its system calls here.
var errNoFilter = errors.New("filters of system calls are not allowed here")

// filtered replaces this process by the program of args with a filter of its system calls: those of calls fail with
// errno; or, with errno 0, all others are a SIGSYS, of which the Go runtime tells where it came from. It returns only
// if that fails.
func filtered(errno syscall.Errno, calls []string, args []string) error {
	runtime.LockOSThread() // the filter is of this OS thread, which becomes the process
	listed, others := uint32(unix.SECCOMP_RET_ERRNO|uint32(errno)), uint32(unix.SECCOMP_RET_ALLOW)
	if errno == 0 {
		listed, others = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_TRAP
	}
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call, at offset 0
	for _, name := range calls {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: numbers[name]},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: listed})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: others})
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return errNoFilter
	}
	if _, _, err := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&f))); err != 0 {
		return errNoFilter
	}
	return syscall.Exec(args[0], args, syscall.Environ())
}

// filter is the program that filters itself: an errno, calls separated by commas, and the arguments of what it becomes.
func filter(args []string) error {
	errno, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	return filtered(syscall.Errno(errno), strings.Split(args[1], ","), args[2:])
}
