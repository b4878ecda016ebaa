package tcp

import (
	"fmt"
	"net"
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/internal/numa"
	"github.com/pm2-go/pm2/nmad/driver/internal/stream"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// Open implements driver.Driver. Config.Listen is "host:port"; empty, or a name
// that is meant for another driver ("@..."): any free port of 127.0.0.1. An
// endpoint's address is "host:port".
func (d Driver) Open(c driver.Config) (driver.Endpoint, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("tcp: open: %w", err)
	}
	where := c.Listen
	if where == "" || strings.HasPrefix(where, "@") {
		where = "127.0.0.1:0"
	}
	ln, err := kernel.Listen("tcp", where)
	if err != nil {
		return nil, fmt.Errorf("tcp: cannot listen on %q: %w; choose another address, or none for any free port of this host", where, meet.Cause(err))
	}
	return d.network().Listen(c, ln, reachable(ln.Addr().(*net.TCPAddr))), nil
}

func (d Driver) network() stream.Network {
	return stream.Network{
		Name: Name, Hint: "is its process running, and is this its address?",
		MaxBody: d.maxBody(), Gather: stream.MostGathered, Check: checkAddress,
		Take:  func(c stream.Conn) (int, error) { return takeSocket(c, d.sndbuf) },
		Place: func(c stream.Conn) driver.Place { return numa.Through(c.LocalAddr()) },
	}
}

func checkAddress(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%w: an address of this driver is host:port", driver.ErrConfig)
	}
	return nil
}

// reachable gives the address under which others reach a listener: if it
// listens on every address of the host, one of those that leave the host.
func reachable(a *net.TCPAddr) string {
	if !a.IP.IsUnspecified() {
		return a.String()
	}
	addrs, _ := net.InterfaceAddrs() // without any, loopback it is
	for _, other := range addrs {
		if ipn, ok := other.(*net.IPNet); ok && ipn.IP.IsGlobalUnicast() && (ipn.IP.To4() != nil || a.IP.To4() == nil) {
			return (&net.TCPAddr{IP: ipn.IP, Port: a.Port}).String()
		}
	}
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: a.Port}).String()
}
