package launch

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Host is a machine that takes part in a job.
type Host struct {
	Name  string // as the remote shell and the other hosts know it
	Slots int    // processes that it takes
}

// ReadHosts reads a host file as MPI launchers have it: one host a line, "name" or "name slots=4" or "name:4", a
// comment from # on. A host without slots takes one process; a host that is named again takes more.
func ReadHosts(r io.Reader) ([]Host, error) {
	var hosts []Host
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		h, err := parseHost(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d, %q: %w", n, strings.TrimSpace(text), err)
		}
		hosts = addHost(hosts, h)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("no host in it: write a host a line, such as: node1 slots=4")
	}
	return hosts, nil
}

// parseHost reads the words of a line of a host file.
func parseHost(fields []string) (Host, error) {
	h := Host{Name: fields[0], Slots: 1}
	if name, slots, ok := strings.Cut(h.Name, ":"); ok && !strings.Contains(slots, ":") {
		h.Name, fields = name, append(fields, "slots="+slots)
	}
	if h.Name == "" || strings.HasPrefix(h.Name, "-") {
		return h, fmt.Errorf("%q is no name of a host", h.Name)
	}
	for _, f := range fields[1:] {
		text, ok := strings.CutPrefix(f, "slots=")
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 1 || n > driver.MaxSize {
			return h, fmt.Errorf("%q: write slots=N, N from 1 to %d", f, driver.MaxSize)
		}
		h.Slots = n
	}
	return h, nil
}

// addHost adds a host, or its slots if the host is there already, so that the ranks of a host stay together.
func addHost(hosts []Host, h Host) []Host {
	for i := range hosts {
		if hosts[i].Name == h.Name {
			hosts[i].Slots += h.Slots
			return hosts
		}
	}
	return append(hosts, h)
}

// hostPart is the ranks of one host.
type hostPart struct {
	host         string
	first, count int
}

// divideRanks divides n ranks among hosts, each filled before the next.
func divideRanks(hosts []Host, n int) ([]hostPart, error) {
	var all []hostPart
	first := 0
	for _, h := range hosts {
		count := min(h.Slots, n-first)
		if count == 0 {
			break
		}
		all = append(all, hostPart{h.Name, first, count})
		first += count
	}
	if first < n {
		return nil, fmt.Errorf("launch: %w: %d processes and %d slots on %d hosts: add slots or hosts", ErrSpec, n, first, len(hosts))
	}
	return all, nil
}

// lookupHost returns an address of a host, and whether it is this host.
func lookupHost(name string) (ip net.IP, own bool, err error) {
	found, err := net.LookupIP(name)
	if err != nil {
		return nil, false, fmt.Errorf("launch: host %q: %w", name, err)
	}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		return nil, false, fmt.Errorf("launch: our own addresses: %w", err)
	}
	for _, ip := range found {
		if ip.IsLoopback() {
			return ip, true, nil
		}
		for _, a := range mine {
			if n, isNet := a.(*net.IPNet); isNet && n.IP.Equal(ip) {
				return ip, true, nil
			}
		}
	}
	return found[0], false, nil
}
