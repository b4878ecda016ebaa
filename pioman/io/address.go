package pio

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
)

// Addresses: package net parses and resolves them, this file translates.

// resolve returns the addresses that a text stands for. For listen an empty host is the
// loopback interface, for dialling as well. Names are looked up by package net,
// off the caller's virtual processor.
func resolve(ctx context.Context, network, address string) ([]net.Addr, error) {
	switch network {
	case "unix":
		a, err := net.ResolveUnixAddr(network, address)
		if err != nil {
			return nil, err
		}
		return []net.Addr{a}, nil
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, net.UnknownNetworkError(network)
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		p, err := net.DefaultResolver.LookupPort(ctx, network, service) // a table and a file
		if err != nil {
			return nil, err
		}
		port = uint64(p)
	}
	ips, err := lookup(ctx, network, host)
	if err != nil {
		return nil, err
	}
	list := make([]net.Addr, 0, len(ips))
	for _, ip := range ips {
		if ip = ip.Unmap(); ip.Is4() && network == "tcp6" || ip.Is6() && network == "tcp4" {
			continue
		}
		list = append(list, net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(port))))
	}
	if len(list) == 0 {
		return nil, &net.AddrError{Err: "no suitable address for " + network, Addr: address}
	}
	return list, nil
}

func lookup(ctx context.Context, network, host string) (ips []netip.Addr, err error) {
	if host == "" {
		if network == "tcp6" {
			return []netip.Addr{netip.IPv6Loopback()}, nil
		}
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	// The resolver waits as goroutines do, which would hold up the virtual processor.
	marcel.Blocking(func() { ips, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host) })
	return ips, err
}

// sockAddr translates for the kernel; with the family of the socket to be made.
func sockAddr(a net.Addr) (family int, sa unix.Sockaddr, err error) {
	switch a := a.(type) {
	case *net.UnixAddr:
		return unix.AF_UNIX, &unix.SockaddrUnix{Name: a.Name}, nil
	case *net.TCPAddr:
		ap := a.AddrPort()
		ip := ap.Addr().Unmap()
		if ip.Is4() {
			return unix.AF_INET, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ip.As4()}, nil
		}
		zone, err := zoneID(ip.Zone())
		return unix.AF_INET6, &unix.SockaddrInet6{Port: int(ap.Port()), ZoneId: zone, Addr: ip.As16()}, err
	}
	return 0, nil, fmt.Errorf("address %v of type %T: %w", a, a, net.UnknownNetworkError(a.Network()))
}

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

// netAddr translates what the kernel says. nil: an address that no stream socket has.
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

func zoneName(id uint32) string {
	if id == 0 {
		return ""
	}
	if ifi, err := net.InterfaceByIndex(int(id)); err == nil {
		return ifi.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}
