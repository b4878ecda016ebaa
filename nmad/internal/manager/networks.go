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

// mostNetworks bounds the addresses that a host publishes, and the networks that a job uses: so many rails there are at
// most.
const mostNetworks = 8

// loopback stands for the network of a job whose processes are all on one host; byRoute for that of a job whose hosts have
// none in common: each process then uses the address from which the way to rank 0 leaves.
const (
	loopback = "lo"
	byRoute  = "*"
)

// host is what the processes of one host publish.
type host struct {
	id    string         // names a kernel and a network name space of it
	addrs []netip.Prefix // addresses that other hosts may reach, with their networks; the preferred one first
}

// String is the value that is put.
func (h host) String() string {
	words := make([]string, len(h.addrs))
	for i, a := range h.addrs {
		words[i] = a.String()
	}
	return h.id + ";" + strings.Join(words, ",")
}

func parseHost(text string) (h host, err error) {
	id, rest, ok := strings.Cut(text, ";")
	if !ok || id == "" || len(id) > 64 || len(rest) > maxValue {
		return h, fmt.Errorf("%.60q is no host and its networks", text)
	}
	h.id = id
	for word := range strings.SplitSeq(rest, ",") {
		if word == "" && rest == "" {
			break
		}
		p, err := netip.ParsePrefix(word)
		if err != nil || len(h.addrs) == mostNetworks {
			return h, fmt.Errorf("%.60q is no list of up to %d networks", rest, mostNetworks)
		}
		h.addrs = append(h.addrs, p)
	}
	return h, nil
}

// hostID names this kernel and network name space; processes with the same one reach each other by loopback.
func hostID() string {
	boot, _ := kernel.Boot()
	sum := sha256.Sum256([]byte(boot + kernel.Space("net")))
	return hex.EncodeToString(sum[:8])
}

// ownHost finds the addresses of this host that may be used between hosts: those of interfaces that are up and running,
// not loopback, one for each network, IPv4 first. wanted, if not empty, says which ones: names of interfaces, or networks
// such as 10.0.0.0/8, with commas, the preferred one first.
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
		addrs, _ := i.Addrs() // it may have gone meanwhile
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
		if len(h.addrs) < mostNetworks && !slices.ContainsFunc(h.addrs, func(p netip.Prefix) bool { return p.Masked() == f.addr.Masked() }) {
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

// common says by which networks all hosts can reach each other: "lo" if they are one, else those in which each of them has
// an address of its own; "*" if there is none. An address that two hosts have is that of a network that each has for
// itself, such as those of container engines.
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

// listen says where this process should accept links: an address of it for each network, port 0.
func (h host) listen(networks []string, root string) ([]string, error) {
	var all []string
	for _, n := range networks {
		switch n {
		case loopback:
			all = append(all, "127.0.0.1:0")
			continue
		case byRoute:
			conn, err := net.Dial("udp", root) // sends nothing
			if err != nil {
				return nil, fmt.Errorf("no way to rank 0 at %s: %w", root, err)
			}
			from, _, _ := net.SplitHostPort(conn.LocalAddr().String())
			conn.Close()
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
