//go:build !linux

package kernel

import (
	"errors"
	"runtime"
)

// Affinity returns errors.ErrUnsupported: these systems do not tell which CPUs an OS thread may use.
func Affinity(tid int) ([]uint64, error) { return nil, errors.ErrUnsupported }

// SetAffinity returns errors.ErrUnsupported: these systems bind no OS threads.
func SetAffinity(tid int, words []uint64) error { return errors.ErrUnsupported }

// Membarrier does nothing.
func Membarrier() {}

// HasMembarrier returns false.
func HasMembarrier() bool { return false }

// Yield offers the CPU to other goroutines: this system has no raw call for more.
func Yield() { runtime.Gosched() }

// YieldWithP is Yield.
func YieldWithP() { runtime.Gosched() }
