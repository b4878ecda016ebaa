//go:build ofi && cgo

package ofi

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// Driver is the driver over libfabric; the zero value is ready.
type Driver struct {
	provider string // "": what the environment says
	chosen   bool   // the provider is part of the name
	better   bool   // only with a provider that is better than TCP
	local    bool   // all memory is registered, even where the provider asks for none
	shape    *shape // nil: standard
}

// Name implements driver.Driver.
func (d Driver) Name() string {
	if d.chosen {
		return Name + ":" + d.provider
	}
	return Name
}

// Choose implements driver.Chooser: it chooses a provider of libfabric, so that several of them can be rails.
func (Driver) Choose(provider string) driver.Driver { return Driver{provider: provider, chosen: true} }

func init() { driver.MustRegister(Driver{}) }

// Between is the drivers that go before TCP between hosts: this one, where there is a provider that is better than the sockets of the system.
func Between() []driver.Driver { return []driver.Driver{Driver{better: true}} }

// sockets are providers over sockets of the system, and shm, which reaches no other host.
var sockets = []string{"tcp", "udp", "sockets", "net", "shm"}

// isSockets says whether a provider is one of them, alone or below another one.
func isSockets(provider string) bool {
	return slices.ContainsFunc(sockets, func(s string) bool { return strings.HasPrefix(provider, s) })
}

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
	f, err := openFabric(provider, host, family, s)
	if err != nil {
		return nil, err
	}
	if d.better && isSockets(f.provider) {
		f.close()
		return nil, fmt.Errorf("the best provider is %s, which is no better than tcp", f.provider)
	}
	f.local = f.local || d.local
	p := newPort(f, s)
	p.kernel = isSockets(f.provider) && !f.shm()
	if f.shm() {
		process.RemoveFiles()
	}
	return p, nil
}
