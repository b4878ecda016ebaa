//go:build ofi && cgo

package ofi

import (
	"bytes"
	"errors"
	"net"
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
	s := shape{slots: 4, slotSize: 4096, buffers: 2, bufferSize: 1 << 16}
	f, err := openFabric("tcp", "127.0.0.5", unix.AF_INET, s)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if at := net.IP(f.name[4:8]); !at.Equal(net.IPv4(127, 0, 0, 5)) {
		t.Errorf("the endpoint lies at %v", at)
	}
	if f, err := openFabric("tcp", "192.0.2.1", unix.AF_INET, s); !errors.Is(err, unix.EADDRNOTAVAIL) {
		if err == nil {
			f.close()
		}
		t.Errorf("at an address that the host has not: %v", err)
	}
}
