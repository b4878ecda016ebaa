package kernel

import (
	"net"
	"os"
	"syscall"
)

// Listen is net.Listen, and fails if the listener is not Known.
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

// Known returns nil if l knows its address. Otherwise, where the kernel does not tell the address of a socket, it
// closes l and returns the error of the system call.
func Known(l net.Listener) error {
	if l.Addr() != nil {
		return nil
	}
	defer l.Close()
	return &net.OpError{Op: "listen", Err: unknown(l.(syscall.Conn))}
}

// FileListener is net.FileListener; where the kernel does not tell the address of a socket the error names the system
// call.
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

// Dials returns nil if package net can connect sockets. Where the kernel does not tell the address of a peer, a dial of
// package net never returns, though all else works; then Dials returns the error of the system call.
func Dials() error {
	return os.NewSyscallError("getpeername", peername())
}

// unknown returns why the kernel does not tell the address of a socket; nil: it does.
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
