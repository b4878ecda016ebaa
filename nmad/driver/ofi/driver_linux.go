//go:build ofi && cgo

package ofi

import (
	"errors"
	"net"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Driver is the driver over libfabric; the zero value is ready.
type Driver struct {
	provider string // "": what the environment says
	messages bool   // long transfers are messages, even where there are remote writes
	shape    *shape // nil: standard
}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

func init() { driver.MustRegister(Driver{}) }

func (d Driver) openPort(provider, addr string) (*port, error) {
	host, _, _ := net.SplitHostPort(addr)
	family := unix.AF_INET
	if strings.Contains(host, ":") {
		family = unix.AF_INET6
	}
	s := standard
	if d.shape != nil {
		s = *d.shape
	}
	f, err := openFabric(provider, host, family, !d.messages && !strings.HasPrefix(provider, "shm"), s)
	if err == nil && f.writes && strings.HasPrefix(f.provider, "shm") {
		// A remote write there is a copy of the writer's kernel, which no key holds back.
		f.close()
		err = errors.New("remote writes over shm")
	}
	if err != nil && !d.messages {
		f, err = openFabric(provider, host, family, false, s)
	}
	if err != nil {
		return nil, err
	}
	p := newPort(f, s)
	for _, word := range []string{"tcp", "udp", "sockets", "net"} {
		p.kernel = p.kernel || strings.HasPrefix(f.provider, word)
	}
	return p, nil
}
