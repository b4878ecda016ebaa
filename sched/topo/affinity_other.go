//go:build !linux

package topo

import "runtime"

// processMask is what the process may use, as far as Go's runtime knows.
var processMask = func() (s CPUSet) {
	for i := range runtime.NumCPU() {
		s.Add(i)
	}
	return s
}()
