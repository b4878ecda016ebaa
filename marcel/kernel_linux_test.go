package marcel_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// nap sleeps in the kernel without telling the scheduler.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

func gettid() int { return unix.Gettid() }

// isThere tells whether an OS thread has not ended.
func isThere(tid int) bool { return unix.Tgkill(unix.Getpid(), tid, 0) == nil }
