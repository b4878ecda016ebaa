package pioman

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched"
)

// sleep is unix.EpollWait into k.ready by a caller that gives its P away before.
func (k *kernel) sleep(ms int) (int, error) {
	n, errno := sched.Block(unix.SYS_EPOLL_PWAIT, uintptr(k.epoll), uintptr(unsafe.Pointer(&k.ready)), uintptr(len(k.ready)), uintptr(ms), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
