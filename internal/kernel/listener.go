package kernel

import (
	"net"
	"os"
	"syscall"
)

// Listen is net.Listen of a listener that is Known.
func Listen(network, addr string) (net.Listener, error) {
	l, err := net.Listen(network, addr)
	if err == nil {
		err = Known(l)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Known closes a listener that does not know its address, and says why: where the kernel does not tell it, package net leaves it out.
func Known(l net.Listener) error {
	if l.Addr() != nil {
		return nil
	}
	defer l.Close()
	return &net.OpError{Op: "listen", Err: unknown(l.(syscall.Conn))}
}

// FileListener is net.FileListener, which of the same lack says less.
func FileListener(file *os.File) (net.Listener, error) {
	l, err := net.FileListener(file)
	if err != nil {
		if why := unknown(file); why != nil {
			err = why
		}
		return nil, err
	}
	return l, nil
}

// Dials says why package net cannot connect anything, though all else works: it waits for ever where it is not told the peer's
// address. nil: it can.
func Dials() error {
	return os.NewSyscallError("getpeername", peername())
}

// unknown says why the kernel does not tell the address of a socket; nil: it does.
func unknown(c syscall.Conn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	if e := raw.Control(func(fd uintptr) { err = sockname(fd) }); e != nil {
		return e
	}
	return os.NewSyscallError("getsockname", err)
}
