package pio

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// Package net parses and resolves addresses; this file translates between its types and the kernel's.

// local puts the host of the loopback interface into an address without a host.
func local(network, address string) string {
	switch {
	case !strings.HasPrefix(network, "tcp") || !strings.HasPrefix(address, ":"):
		return address
	case network == "tcp6":
		return "[::1]" + address
	}
	return "127.0.0.1" + address
}

// resolve returns the addresses that a text stands for. Names are looked up by package net, off the caller's VP.
func resolve(ctx context.Context, network, address string) (list []net.Addr, err error) {
	switch network {
	case "unix":
		return []net.Addr{&net.UnixAddr{Name: address, Net: network}}, nil
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, net.UnknownNetworkError(network)
	}
	host, service, err := net.SplitHostPort(local(network, address))
	if err != nil {
		return nil, err
	}
	var ips []net.IPAddr
	var port int
	look := func() {
		if port, err = net.DefaultResolver.LookupPort(ctx, network, service); err == nil {
			ips, err = net.DefaultResolver.LookupIPAddr(ctx, host)
		}
	}
	if _, name := netip.ParseAddr(host); name == nil {
		look() // asks no server
	} else {
		marcel.Blocking(look) // the resolver waits as goroutines do, which would hold up the VP
	}
	for _, ip := range ips {
		if four := ip.IP.To4() != nil; four && network == "tcp6" || !four && network == "tcp4" {
			continue
		}
		list = append(list, &net.TCPAddr{IP: ip.IP, Port: port, Zone: ip.Zone})
	}
	if err == nil && len(list) == 0 {
		err = &net.AddrError{Err: "no suitable address for " + network, Addr: address}
	}
	return list, err
}

// sockAddr returns an address as the kernel takes it, and the family of its socket.
func sockAddr(a net.Addr) (family int, sa unix.Sockaddr, err error) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return unix.AF_UNIX, &unix.SockaddrUnix{Name: a.String()}, nil
	}
	ip := t.AddrPort().Addr().Unmap()
	if ip.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: t.Port, Addr: ip.As4()}, nil
	}
	zone, err := zoneID(ip.Zone())
	return unix.AF_INET6, &unix.SockaddrInet6{Port: t.Port, ZoneId: zone, Addr: ip.As16()}, err
}

// zoneID returns the number of an IPv6 zone.
func zoneID(zone string) (uint32, error) {
	if zone == "" {
		return 0, nil
	}
	if ifi, err := net.InterfaceByName(zone); err == nil {
		return uint32(ifi.Index), nil
	}
	n, err := strconv.ParseUint(zone, 10, 32)
	if err != nil {
		return 0, &net.AddrError{Err: "no such interface", Addr: zone}
	}
	return uint32(n), nil
}

// netAddr returns an address of the kernel as one of package net; nil: no stream socket has it.
func netAddr(network string, sa unix.Sockaddr) net.Addr {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: append(net.IP(nil), sa.Addr[:]...), Port: sa.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: append(net.IP(nil), sa.Addr[:]...), Port: sa.Port, Zone: zoneName(sa.ZoneId)}
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Name: sa.Name, Net: network}
	}
	return nil
}

// zoneName is the inverse of zoneID.
func zoneName(id uint32) string {
	if id == 0 {
		return ""
	}
	if ifi, err := net.InterfaceByIndex(int(id)); err == nil {
		return ifi.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// address asks the kernel for one end of a socket (unix.Getsockname, unix.Getpeername); nil: it has none.
func (d *descriptor) address(of func(fd int) (unix.Sockaddr, error)) net.Addr {
	sa, _ := of(d.fd) // nil with an error
	return netAddr(d.network, sa)
}

// known returns a; if a is nil, an address that has the network alone.
func (d *descriptor) known(a net.Addr) net.Addr {
	if a == nil {
		return &net.UnixAddr{Net: d.network}
	}
	return a
}
