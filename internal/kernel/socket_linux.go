package kernel

import "syscall"

// sockname is what getsockname says of a socket.
func sockname(fd uintptr) error {
	_, err := syscall.Getsockname(int(fd))
	return err
}

// peername is what getpeername says where there is no socket; nil: that there is none.
func peername() error {
	if _, err := syscall.Getpeername(-1); err != syscall.EBADF {
		return err
	}
	return nil
}
