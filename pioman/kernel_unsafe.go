//go:build linux

package pioman

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched"
)

// epollSet is an epoll instance.
type epollSet struct{ fd int }

// readyList has room for what one look finds.
type readyList [64]unix.EpollEvent

func openEpollSet() (epollSet, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return epollSet{}, fmt.Errorf("epoll_create1: %w", err)
	}
	return epollSet{fd}, nil
}

func (s epollSet) descriptor() int { return s.fd }
func (s epollSet) close()          { unix.Close(s.fd) }

// anyEdge is all that may happen at a descriptor, each told of once.
const anyEdge = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET

// add watches a descriptor; index and serial come back with its events.
func (s epollSet) add(fd int, events uint32, index, serial int32) error {
	return unix.EpollCtl(s.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: index, Pad: serial})
}

// remove takes a descriptor out of the set. The kernel refuses only a closed descriptor, which the set no longer holds.
func (s epollSet) remove(fd int) { _ = unix.EpollCtl(s.fd, unix.EPOLL_CTL_DEL, fd, nil) }

// ready fills the list with what has happened, without blocking, and so without letting go of
// the P; it returns how many.
func (s epollSet) ready(list *readyList) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(s.fd), uintptr(unsafe.Pointer(&list[0])), uintptr(len(list)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// event is the i-th of the list. An error or the end concerns both directions.
func (l *readyList) event(i int) (index, serial int32, in, out bool) {
	ev := &l[i]
	const both = unix.EPOLLERR | unix.EPOLLHUP
	return ev.Fd, ev.Pad, ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|both) != 0, ev.Events&(unix.EPOLLOUT|both) != 0
}

// sleep is unix.EpollWait into k.ready by a caller that gives its P away before.
func (k *kernel) sleep(ms int) (int, error) {
	n, errno := sched.Block(unix.SYS_EPOLL_PWAIT, uintptr(k.set.fd), uintptr(unsafe.Pointer(&k.ready)), uintptr(len(k.ready)), uintptr(ms), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
