package roster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// awaitEnd blocks until the process with that pid and start time has ended, and then returns true. It returns
// false when ctx ends first, or when the process cannot be watched. Go's network poller waits for a pidfd, which
// becomes readable when the process ends, so no thread is blocked.
func awaitEnd(ctx context.Context, pid int, born uint64) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	defer file.Close()
	// The descriptor stands for the process that has the pid now: is it still the same?
	if now := StartTime(pid); born != 0 && now != born {
		return true
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		return err == nil && n > 0
	})
	return err == nil
}

// StartTime returns the start time of a process in clock ticks since boot; 0 if it cannot be read. With the pid it
// names a process uniquely.
func StartTime(pid int) uint64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The second field is the program's name in brackets and may hold anything.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	fields := bytes.Fields(rest)
	const startTime = 22 - 3 // field 22; rest begins with field 3
	if len(fields) <= startTime {
		return 0
	}
	born, _ := strconv.ParseUint(string(fields[startTime]), 10, 64)
	return born
}
