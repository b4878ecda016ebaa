package pioman

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched"
)

// sleep is unix.EpollWait into k.ready, for ms milliseconds, below 0 without end. It gives the caller's P away before.
func (k *sleepSet) sleep(ms int) (int, error) {
	n, errno := sched.Block(unix.SYS_EPOLL_PWAIT, uintptr(k.epoll), uintptr(unsafe.Pointer(&k.ready)), uintptr(len(k.ready)), uintptr(ms), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// sleepCPU blocks the OS thread for d. It gives the caller's P away before: otherwise the monitor thread of the Go
// runtime would take the P, and then wake up every 20 us for milliseconds, perhaps on the CPU of a waiter that polls.
func sleepCPU(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	sched.Block(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0, 0, 0, 0)
}
