package roster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// awaitEnd blocks until the process with that pid and start time has ended, and then returns true. It returns false
// when ctx ends first, or when the process cannot be watched. Go's network poller waits for a pidfd, which becomes
// readable when the process ends, so no thread is blocked.
func awaitEnd(ctx context.Context, pid int, born uint64) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	defer file.Close()
	if now := StartTime(pid); born != 0 && now != born { // another process has this pid now
		return true
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(limit.Past) })()
	return conn.Read(func(fd uintptr) bool {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0
	}) == nil
}

// StartTime returns the start time of a process in clock ticks since boot; 0 if it cannot be read. With the pid it
// names a process uniquely.
func StartTime(pid int) uint64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The second field is the program's name in brackets and may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const startTime = 22 - 3 // field 22; the first of fields is field 3
	if len(fields) <= startTime {
		return 0
	}
	born, _ := strconv.ParseUint(string(fields[startTime]), 10, 64)
	return born
}
