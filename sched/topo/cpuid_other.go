//go:build !amd64 || portable

package topo

// processorCaches returns none: only amd64 has CPUID.
func processorCaches() []statedCache { return nil }
