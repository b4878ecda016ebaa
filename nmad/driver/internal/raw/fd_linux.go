package raw

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Take makes the socket of a Go connection ours: a duplicate of the descriptor, non-blocking and close-on-exec, of
// which Go's poller knows nothing, once c is closed, which is the caller's to do. The socket lives on in the duplicate.
func Take(c syscall.Conn) (int, error) {
	rc, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	if cerr := rc.Control(func(old uintptr) {
		// 3 and up, so that a program with closed standard streams does not print into our socket.
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3)
	}); cerr != nil {
		err = cerr
	}
	if err != nil {
		return -1, fmt.Errorf("cannot duplicate the socket: %w", os.NewSyscallError("fcntl", err))
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Close closes descriptors of ours; those below 0 are none.
func Close(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd) // open: cannot fail in a way that matters
		}
	}
}

// Interest puts fd into the epoll set ep, or changes what is waited for. Level triggered.
func Interest(ep, op, fd int, events uint32) error {
	return unix.EpollCtl(ep, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}
