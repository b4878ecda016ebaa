package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nobind is a command of the test scripts: `nobind ARGS...` runs demo where the
// kernel forbids to bind threads, as some containers do. A seccomp filter answers
// sched_setaffinity with EPERM.
func nobind() {
	runtime.LockOSThread() // the filter is this thread's, and what it executes
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_SCHED_SETAFFINITY},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nobind:", err)
		os.Exit(77)
	}
	path, err := exec.LookPath("demo")
	if err == nil {
		err = unix.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "nobind:", err)
	os.Exit(77)
}
