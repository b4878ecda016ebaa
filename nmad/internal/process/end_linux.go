package process

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// AwaitEnd blocks until the process with that pid and start time (StartTime; 0: any) has ended, and reports whether it
// has: it returns false when ctx ends first, or when the process cannot be watched. Go's network poller waits for a
// pidfd, so no OS thread is blocked.
func AwaitEnd(ctx context.Context, pid int, started uint64) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return err == unix.ESRCH
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	defer file.Close()
	if now := StartTime(pid); started != 0 && now != started { // another process has this pid now
		return true
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })()
	return conn.Read(func(fd uintptr) bool { return hasEnded(int(fd)) }) == nil
}

// ended reports whether a process has ended, whether its parent has waited for it or not.
func ended(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	defer unix.Close(fd)
	return hasEnded(fd)
}

// hasEnded reports whether the process of a pidfd has ended: the pidfd is readable from then on.
func hasEnded(pidfd int) bool {
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return n > 0
}

// StartTime returns the start time of a process in clock ticks since boot; 0 if it cannot be read. With the pid it
// names a process uniquely.
func StartTime(pid int) uint64 {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The second field is the program's name in brackets and may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const startTime = 22 - 3 // field 22; the first of fields is field 3
	if len(fields) <= startTime {
		return 0
	}
	started, _ := strconv.ParseUint(string(fields[startTime]), 10, 64)
	return started
}
