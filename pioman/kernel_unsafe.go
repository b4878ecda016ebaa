package pioman

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched"
)

// sleep is unix.EpollWait into k.ready by a caller that gives its P away before.
func (k *sleepSet) sleep(ms int) (int, error) {
	n, errno := sched.Block(unix.SYS_EPOLL_PWAIT, uintptr(k.epoll), uintptr(unsafe.Pointer(&k.ready)), uintptr(len(k.ready)), uintptr(ms), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}

// sleepCPU blocks the OS thread. It gives its P away before: the monitor thread of the Go runtime would take it, and then
// look around every 20 us for milliseconds, on a CPU that a waiter polls on.
func sleepCPU(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	sched.Block(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0, 0, 0, 0)
}
