package meet

import (
	"fmt"
	"net"
	"strings"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
)

// ListenTCP listens at Config.Listen, "host:port"; where that is empty, or meant for another driver ("@..."), at any
// free port of 127.0.0.1. Others reach it at addr.
func ListenTCP(name string, c driver.Config) (ln net.Listener, addr string, err error) {
	where := c.Listen
	if where == "" || strings.HasPrefix(where, "@") {
		where = "127.0.0.1:0"
	}
	if ln, err = kernel.Listen("tcp", where); err != nil {
		return nil, "", fmt.Errorf("%s: cannot listen on %q: %w; choose another address, or none for any free port of this host", name, where, Cause(err))
	}
	return ln, reachable(ln.Addr().(*net.TCPAddr)), nil
}

// CheckTCP says what is wrong with an address that ListenTCP did not give.
func CheckTCP(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%w: an address of this driver is host:port", driver.ErrConfig)
	}
	return nil
}

// reachable returns the address under which others reach a listener: if it listens on all addresses of the host,
// one of those that leave the host.
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
