//go:build !linux

package cpus

import (
	"errors"
	"runtime"
)

var errNoBinding = errors.New("not supported on this system")

// Usable lists as many processors as there are.
func Usable() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

// Affinity is a mask of processors; here there is none.
type Affinity struct{}

// Current fails: there is no binding.
func Current() (Affinity, error) { return Affinity{}, errNoBinding }

// Of is that of some processors.
func Of([]int) Affinity { return Affinity{} }

// Apply fails: there is no binding.
func (*Affinity) Apply() error { return errNoBinding }

// Inherited says that nothing can be said.
func Inherited() bool { return false }

// Bind fails: there is no binding.
func Bind([]int) error { return errNoBinding }
