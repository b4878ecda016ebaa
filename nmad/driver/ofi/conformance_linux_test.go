//go:build ofi && cgo

package ofi

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

// TestConformanceTCP: over sockets, long transfers by remote reads of the provider.
func TestConformanceTCP(t *testing.T) { drivertest.Run(t, Driver{provider: "tcp"}) }

// TestLocal: where the provider has to be told of all memory.
func TestLocal(t *testing.T) { drivertest.RunInside(t, Driver{provider: "tcp", local: true}) }

// TestConformanceShm: over shared memory, with a provider that has no descriptor to sleep on, and long transfers by calls of the system.
func TestConformanceShm(t *testing.T) { drivertest.Run(t, Driver{provider: "shm"}) }

// BenchmarkTCP and BenchmarkShm measure the driver as it is.
func BenchmarkTCP(b *testing.B) { drivertest.Bench(b, Driver{provider: "tcp"}) }
func BenchmarkShm(b *testing.B) { drivertest.Bench(b, Driver{provider: "shm"}) }
