//go:build ofi && cgo

package ofi

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// The provider tcp has one connection for each peer. When the driver takes a peer's address back, the provider goes on
// to read and to write on that connection (FI_AV_REMOVE_CLEANUP off), or closes it (on), and then crashes (1.17) if the
// bytes of a read are arriving. So the driver switches that on, and shuts the connection down for reading before it
// takes an address back: the provider finds the end of the connection, and fails what is under way.
//
// Either side may have made the connection. The side that has made it knows its socket by the address of the peer's
// endpoint, and tells the port of its own end (PORTS) before the first long message. By that port the other side knows
// its socket.

// addrPort reads the address of an IP socket, as C has it; not valid: it is another one.
func addrPort(b []byte) netip.AddrPort {
	if len(b) < 8 {
		return netip.AddrPort{}
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), port)
	case family == unix.AF_INET6 && len(b) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:])), port)
	}
	return netip.AddrPort{}
}

// setAddr sets the host of such an address, if that is one of the same family, and has the kernel choose the port.
func setAddr(b []byte, host netip.Addr) {
	at := addrPort(b)
	if !at.IsValid() {
		return
	}
	copy(b[2:], []byte{0, 0})
	switch {
	case host.IsUnspecified():
	case at.Addr().Is4() && host.Is4():
		copy(b[4:], host.AsSlice())
	case at.Addr().Is6() && host.Is6():
		copy(b[8:], host.AsSlice())
	}
}

// connections calls f for each connected TCP socket of this process, among its descriptors.
func connections(f func(fd int, own, peer netip.AddrPort)) {
	address := func(a unix.Sockaddr) netip.AddrPort {
		switch a := a.(type) {
		case *unix.SockaddrInet4:
			return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
		case *unix.SockaddrInet6:
			return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
		}
		return netip.AddrPort{}
	}
	const gap = 256 // numbers that are free in a row: there are no more behind them
	for fd, free := 0, 0; free < gap; fd++ {
		free++
		peer, err := unix.Getpeername(fd)
		if err != unix.EBADF {
			free = 0
		}
		if err == nil {
			if own, err := unix.Getsockname(fd); err == nil {
				f(fd, address(own), address(peer))
			}
		}
	}
}

// tellPorts tells the peer from which ports this process is connected to its endpoint, once; false: not now.
// Under lock.
func (l *link) tellPorts() (ok bool, err error) {
	if l.portsSent || !l.peer.IsValid() {
		return true, nil
	}
	var ports []byte
	connections(func(_ int, own, peer netip.AddrPort) {
		if peer == l.peer && len(ports) < 1000 {
			ports = binary.LittleEndian.AppendUint16(ports, own.Port())
		}
	})
	l.portsSent, err = l.emit(kindPorts, ports, false)
	return l.portsSent, err
}

// sever has the provider find that the connection to the peer has ended.
func (l *link) sever() {
	if !l.peer.IsValid() {
		return
	}
	from := map[uint16]bool{}
	for ports := l.peerPorts; len(ports) >= 2; ports = ports[2:] {
		from[binary.LittleEndian.Uint16(ports)] = true
	}
	connections(func(fd int, own, peer netip.AddrPort) {
		if peer == l.peer || own == l.port.f.at && peer.Addr() == l.peer.Addr() && from[peer.Port()] {
			_ = unix.Shutdown(fd, unix.SHUT_RD) // what this side still sends does not fail before it has looked
		}
	})
}
