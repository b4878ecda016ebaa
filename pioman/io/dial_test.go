package pio

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The kernel may give a socket that connects to a port of its own host that very port, if no socket listens
// there: then it is connected to itself. To the caller the port refuses, as it does to any other socket, and
// a server may listen there at once.
func TestDialRefusesItself(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6"} {
		t.Run(network, func(t *testing.T) {
			modes(t, func(t *testing.T, g *rig, run func(func())) {
				list, err := resolve(t.Context(), network, ":0")
				if err != nil {
					t.Fatal(err)
				}
				fd, sa, err := socket(list[0])
				if err != nil {
					t.Skip(err)
				}
				if err := unix.Bind(fd, sa); err != nil { // what the kernel would choose
					unix.Close(fd)
					t.Skip(err)
				}
				if sa, err = unix.Getsockname(fd); err != nil {
					t.Fatal(err)
				}
				run(func() {
					c, err := g.join(t.Context(), network, fd, sa)
					if !errors.Is(err, syscall.ECONNREFUSED) {
						t.Errorf("connected to itself: %v, %v", c, err)
					}
				})
				l, err := net.Listen(network, netAddr(network, sa).String())
				if err != nil {
					t.Fatal("the port is not free: ", err)
				}
				l.Close()
			})
		})
	}
}
