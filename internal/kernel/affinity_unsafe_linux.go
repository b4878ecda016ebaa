package kernel

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel refuses a buffer that is smaller than its own masks, whose size it does not tell: [Affinity] begins with
// room for 1,024 CPUs and doubles it up to 524,288.
const (
	leastWords = 1 << 4
	mostWords  = 1 << 13
)

// Affinity returns the CPUs that an OS thread may use: bit c%64 of word c/64 is CPU c. tid 0 is the calling OS thread,
// a process's id its first one. An error is the kernel's: ESRCH, there is no such thread.
func Affinity(tid int) ([]uint64, error) {
	words, err := affinity(tid, getAffinity)
	return words, os.NewSyscallError("sched_getaffinity", err)
}

// affinity asks get, which fills the words and returns how many bytes it has filled, or EINVAL if there are too few.
func affinity(tid int, get func(tid int, to []uint64) (bytes int, err error)) ([]uint64, error) {
	for n := leastWords; ; n *= 2 {
		words := make([]uint64, n)
		bytes, err := get(tid, words)
		switch {
		case err == nil:
			return words[:(bytes+7)/8], nil
		case err != unix.EINVAL || n == mostWords:
			return nil, err
		}
	}
}

func getAffinity(tid int, to []uint64) (bytes int, err error) {
	n, _, errno := unix.RawSyscall(unix.SYS_SCHED_GETAFFINITY, uintptr(tid), uintptr(8*len(to)), uintptr(unsafe.Pointer(unsafe.SliceData(to))))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// SetAffinity has an OS thread use these CPUs only, in words as [Affinity]'s; the kernel leaves out those that do not
// exist, or that the cgroup forbids, and returns EINVAL if none is left, EPERM if the thread is another user's or a
// sandbox forbids it.
func SetAffinity(tid int, words []uint64) error {
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETAFFINITY, uintptr(tid), uintptr(8*len(words)), uintptr(unsafe.Pointer(unsafe.SliceData(words))))
	if errno != 0 {
		return os.NewSyscallError("sched_setaffinity", errno)
	}
	return nil
}
