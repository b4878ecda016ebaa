package manager

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
)

// maxNetworks bounds the addresses that a host publishes, and so the networks that a job uses. It is the largest number
// of rails of a gate.
const maxNetworks = 8

// Two names that stand for networks.
const (
	loopback = "lo" // all processes of the job are on one host
	byRoute  = "*"  // the hosts share no network: each process uses the address from which its packets to rank 0 leave
)

// host is what the processes of one host publish to the others.
type host struct {
	id    string         // identifies a kernel and one of its network name spaces; see hostID
	addrs []netip.Prefix // addresses, with their networks, at which other hosts may reach this one; the preferred one first
}

// String returns the host as it is put into the key space; parseHost is its inverse.
func (h host) String() string {
	words := make([]string, len(h.addrs))
	for i, a := range h.addrs {
		words[i] = a.String()
	}
	return h.id + ";" + strings.Join(words, ",")
}

// parseHost parses what String has made. The text comes from another host, so parseHost checks all of it.
func parseHost(text string) (h host, err error) {
	id, rest, ok := strings.Cut(text, ";")
	if !ok || id == "" || len(id) > 64 || len(rest) > maxValueBytes {
		return h, fmt.Errorf("%.60q is no host and its networks", text)
	}
	h.id = id
	for word := range strings.SplitSeq(rest, ",") {
		if word == "" && rest == "" {
			break
		}
		p, err := netip.ParsePrefix(word)
		if err != nil || len(h.addrs) == maxNetworks {
			return h, fmt.Errorf("%.60q is no list of up to %d networks", rest, maxNetworks)
		}
		h.addrs = append(h.addrs, p)
	}
	return h, nil
}

// hostID identifies this kernel and network name space. Processes with the same hostID reach each other by loopback.
func hostID() string {
	boot, _ := kernel.Boot()
	sum := sha256.Sum256([]byte(boot + kernel.Space("net")))
	return hex.EncodeToString(sum[:8])
}

// ownHost describes this host, with the addresses that may be used between hosts: one for each network, of interfaces
// that are up and running and are not loopback; IPv4 comes first. wanted, if it is not empty, chooses among them, in
// order of preference: a list, with commas, of names of interfaces and of networks such as 10.0.0.0/8.
func ownHost(wanted string) (host, error) {
	h := host{id: hostID()}
	all, err := net.Interfaces()
	if err != nil {
		return h, fmt.Errorf("list the network interfaces: %w", err)
	}
	type found struct {
		name string
		addr netip.Prefix
	}
	var candidates []found
	for _, i := range all {
		const need = net.FlagUp | net.FlagRunning
		if i.Flags&need != need || i.Flags&net.FlagLoopback != 0 && wanted == "" {
			continue
		}
		addrs, _ := i.Addrs() // fails if the interface has gone since; then it has no address
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err != nil || p.Addr().IsLinkLocalUnicast() || !p.Addr().IsGlobalUnicast() && !p.Addr().IsLoopback() {
				continue
			}
			candidates = append(candidates, found{i.Name, netip.PrefixFrom(p.Addr().Unmap(), p.Bits())})
		}
	}
	slices.SortStableFunc(candidates, func(a, b found) int { return a.addr.Addr().BitLen() - b.addr.Addr().BitLen() })
	add := func(f found) {
		if len(h.addrs) < maxNetworks && !slices.ContainsFunc(h.addrs, func(p netip.Prefix) bool { return p.Masked() == f.addr.Masked() }) {
			h.addrs = append(h.addrs, f.addr)
		}
	}
	if wanted == "" {
		for _, f := range candidates {
			add(f)
		}
		return h, nil
	}
	for word := range strings.SplitSeq(wanted, ",") {
		network, err := netip.ParsePrefix(word)
		before := len(h.addrs)
		for _, f := range candidates {
			if f.name == word || err == nil && network.Contains(f.addr.Addr()) {
				add(f)
			}
		}
		if len(h.addrs) == before {
			return h, fmt.Errorf("PM2_IFACE=%q: this host has no interface %q that is up and has an address; give names such as eth0, or networks such as 10.0.0.0/8", wanted, word)
		}
	}
	return h, nil
}

// common returns the networks by which all hosts can reach each other: loopback alone if there is one host; else the
// networks in which each host has an address of its own; byRoute alone if there is no such network. Two hosts that have
// the same address in a network cannot reach each other by it: the network is local to each, such as that of a
// container engine.
func common(hosts []host) []string {
	distinct := map[string]host{}
	for _, h := range hosts {
		distinct[h.id] = h
	}
	if len(distinct) == 1 {
		return []string{loopback}
	}
	var shared []string
	for _, candidate := range hosts[0].addrs {
		network := candidate.Masked()
		seen := map[netip.Addr]bool{}
		for _, h := range distinct {
			if i := slices.IndexFunc(h.addrs, func(p netip.Prefix) bool { return p.Masked() == network }); i >= 0 {
				seen[h.addrs[i].Addr()] = true
			}
		}
		if len(seen) == len(distinct) {
			shared = append(shared, network.String())
		}
	}
	if shared == nil {
		return []string{byRoute}
	}
	return shared
}

// listen returns where this process is to accept links: for each network the host's address in it, with port 0. root is
// host:port of rank 0, for the network byRoute.
func (h host) listen(networks []string, root string) ([]string, error) {
	var all []string
	for _, n := range networks {
		switch n {
		case loopback:
			all = append(all, "127.0.0.1:0")
			continue
		case byRoute:
			from, err := routeFrom(root)
			if err != nil {
				return nil, fmt.Errorf("no way to rank 0 at %s: %w", root, err)
			}
			all = append(all, net.JoinHostPort(from, "0"))
			continue
		}
		i := slices.IndexFunc(h.addrs, func(p netip.Prefix) bool { return p.Masked().String() == n })
		if i < 0 {
			return nil, fmt.Errorf("this host has no address in the network %s, which rank 0 has chosen", n)
		}
		all = append(all, net.JoinHostPort(h.addrs[i].Addr().String(), "0"))
	}
	return all, nil
}

// routeFrom returns the address of this host from which packets to an address, host:port, leave.
func routeFrom(to string) (string, error) {
	conn, err := net.Dial("udp", to) // sends nothing
	if err != nil {
		return "", err
	}
	defer conn.Close()
	from, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return from, err
}
