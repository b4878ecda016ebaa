//go:build !portable

package topo

// runCPUID reads one leaf of the CPU that runs the caller. In a virtual machine each call traps
// to the hypervisor, which takes some microseconds.
//
//go:noescape
func runCPUID(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// processorCaches returns the caches that this machine's processor states.
func processorCaches() []statedCache { return statedCaches(runCPUID) }
