//go:build ofi && cgo

package ofi

import (
	"encoding/binary"
	"net/netip"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// The provider tcp has one connection for each peer, by which it goes on to read and to write after the peer's address was taken back, or crashes (1.17) when it
// closes the connection while the bytes of a read are arriving. So the driver shuts the connection down for reading before it takes an address
// back: the provider then finds its end, and fails what is under way.
//
// Either side may have made the connection. The one that has knows it by the address of the peer's endpoint, and tells the port of its own
// end (HELLO), by which the other one knows it.

// connections calls f for each connected TCP socket of this process.
func connections(f func(fd int, own, peer netip.AddrPort)) {
	all, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range all {
		fd, _ := strconv.Atoi(entry.Name())
		peer, err := unix.Getpeername(fd)
		if err != nil {
			continue
		}
		if own, err := unix.Getsockname(fd); err == nil {
			f(fd, addrPort(own), addrPort(peer))
		}
	}
}

// addrPort is an address of an IP socket; not valid: it is another one.
func addrPort(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// parse reads the address of an endpoint of a provider of sockets, as C has it; not valid: it has another form.
func parse(name []byte) netip.AddrPort {
	if len(name) < 8 {
		return netip.AddrPort{}
	}
	port := binary.BigEndian.Uint16(name[2:])
	switch family := binary.NativeEndian.Uint16(name); {
	case family == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(name[4:8])), port)
	case family == unix.AF_INET6 && len(name) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(name[8:24])), port)
	}
	return netip.AddrPort{}
}

// hello is what HELLO brings: the ports from which this process is connected to the peer's endpoint, two bytes each.
func (l *link) hello() (ports []byte) {
	if l.peer.IsValid() {
		connections(func(_ int, own, peer netip.AddrPort) {
			if peer == l.peer {
				ports = binary.LittleEndian.AppendUint16(ports, own.Port())
			}
		})
	}
	return ports[:min(len(ports), 1000)]
}

// sever has the provider find that the connection to the peer has ended.
func (l *link) sever() {
	if !l.peer.IsValid() {
		return
	}
	at := parse(l.port.f.name)
	connections(func(fd int, own, peer netip.AddrPort) {
		if peer == l.peer || own == at && peer.Addr() == l.peer.Addr() && slices.Contains(l.peerPorts, peer.Port()) {
			_ = unix.Shutdown(fd, unix.SHUT_RD) // what this side still sends does not fail before it has looked
		}
	})
}
