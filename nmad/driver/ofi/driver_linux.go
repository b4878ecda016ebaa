//go:build ofi && cgo

package ofi

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// Driver is the driver over libfabric; the zero value is ready.
type Driver struct {
	provider string // "": what the environment says
	chosen   bool   // the provider is part of the name
	better   bool   // only with a provider that is better than TCP
	local    bool   // all memory is registered, even where the provider asks for none
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

// lastResort says of a provider how many kinds of providers are to be preferred to it: 0 of one of hardware, 1 of tcp, 2 of other ones over
// sockets of the system, and of shm, which reaches no other host; whether it is alone or below another one.
func lastResort(provider string) int {
	for at, kind := range []string{"tcp", "udp", "sockets", "net", "shm"} {
		if strings.HasPrefix(provider, kind) {
			return min(1+at, 2)
		}
	}
	return 0
}

func (d Driver) openPort(provider, addr string) (*port, error) {
	at, _ := netip.ParseAddrPort(addr)
	f, err := openFabric(provider, at.Addr())
	if err != nil {
		return nil, err
	}
	if d.better && lastResort(f.provider) > 0 {
		f.close()
		return nil, fmt.Errorf("the best provider is %s, which is no better than tcp", f.provider)
	}
	f.local = f.local || d.local
	p := newPort(f)
	p.kernel = lastResort(f.provider) > 0 && !f.shm()
	if f.shm() {
		process.RemoveFiles()
	}
	return p, nil
}
