package kernel

import "syscall"

// sockname returns the error of getsockname for a socket; nil: the kernel tells its address.
func sockname(fd uintptr) error {
	_, err := syscall.Getsockname(int(fd))
	return err
}

// peername returns the error of getpeername for a descriptor that does not exist, unless that is EBADF, as it must be.
func peername() error {
	if _, err := syscall.Getpeername(-1); err != syscall.EBADF {
		return err
	}
	return nil
}
