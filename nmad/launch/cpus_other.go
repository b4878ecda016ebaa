//go:build !linux

package launch

import (
	"errors"
	"runtime"
)

var errNoBinding = errors.New("not supported on this system")

// usable lists as many processors as there are.
func usable() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

type affinity struct{}

func currentAffinity() (affinity, error) { return affinity{}, errNoBinding }
func affinityOf([]int) affinity          { return affinity{} }
func (*affinity) apply() error           { return errNoBinding }
