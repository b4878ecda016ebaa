package listener

import (
	"crypto/rand"
	"fmt"
	"net"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/meet"
)

// TCP listens at Config.Listen, "host:port"; where that is empty, or meant for another driver ("@..."), at any
// free port of 127.0.0.1. Others reach it at addr.
func TCP(name string, c driver.Config) (ln net.Listener, addr string, err error) {
	where := c.Listen
	if where == "" || meet.IsAbstract(where) {
		where = "127.0.0.1:0"
	}
	if ln, err = kernel.Listen("tcp", where); err != nil {
		return nil, "", fmt.Errorf("%s: cannot listen on %q: %w; choose another address, or none for any free port of this host", name, where, meet.Cause(err))
	}
	return ln, reachable(ln.Addr().(*net.TCPAddr)), nil
}

// CheckTCP says what is wrong with an address that TCP did not give.
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

// Abstract listens on an abstract Unix socket, which has no file: at Config.Listen if that is such a name
// ("@name"; else it is meant for another driver).
func Abstract(driver string, c driver.Config) (ln net.Listener, name string, err error) {
	if name = c.Listen; !meet.IsAbstract(name) {
		name = AbstractName(driver, c.Rank)
	}
	if ln, err = kernel.Listen("unix", name); err != nil {
		return nil, "", fmt.Errorf("%s: cannot listen on %q: %w; choose another name, or none", driver, name, meet.Cause(err))
	}
	return ln, name, nil
}

// AbstractName returns a new name for an abstract Unix socket of a driver. It is random, so no stranger can have taken
// it before.
func AbstractName(driver string, rank int) string {
	return fmt.Sprintf("@pm2-%s-%d-%s", driver, rank, rand.Text())
}

// CheckAbstract says what is wrong with an address that Abstract did not give.
func CheckAbstract(addr string) error {
	if !meet.IsAbstract(addr) {
		return fmt.Errorf("%w: an address of this driver begins with @", driver.ErrConfig)
	}
	return nil
}
