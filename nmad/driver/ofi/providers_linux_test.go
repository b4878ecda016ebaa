//go:build ofi && cgo

package ofi

import (
	"bytes"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

// TestDatagrams: over datagrams of UDP, made reliable by the provider ofi_rxd. It takes long.
func TestDatagrams(t *testing.T) {
	if !effort.Long() {
		t.Skip("it runs with -long")
	}
	drivertest.RunInside(t, Driver{provider: "udp;ofi_rxd"})
}

// TestHooks: libfabric's hook for performance lies between the driver and the provider, and the library writes down what it does.
func TestHooks(t *testing.T) {
	c := exec.Command("/proc/self/exe", "-test.short", "-test.run=^TestConformance(TCP|Shm)$/^one_process$/^(sizes|large)$")
	c.Env = append(os.Environ(), "FI_HOOK=perf", "FI_LOG_LEVEL=debug")
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said[max(0, len(said)-4000):])
	}
	for _, sign := range []string{"Installing perf hook", "PASS"} {
		if !bytes.Contains(said, []byte(sign)) {
			t.Errorf("%d bytes of output, without %q", len(said), sign)
		}
	}
}

// TestAtTheHostsAddress: an endpoint lies at the address that it is given, also if libfabric offers none for it, as where the
// device's carrier comes up later; an address that the host has not is an error that names the call.
func TestAtTheHostsAddress(t *testing.T) {
	f, err := openFabric("tcp", netip.MustParseAddr("127.0.0.5"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if f.at.Addr() != netip.MustParseAddr("127.0.0.5") {
		t.Errorf("the endpoint lies at %v", f.at)
	}
	if f, err := openFabric("tcp", netip.MustParseAddr("192.0.2.1")); !errors.Is(err, unix.EADDRNOTAVAIL) {
		if err == nil {
			f.close()
		}
		t.Errorf("at an address that the host has not: %v", err)
	}
}
