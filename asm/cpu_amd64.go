//go:build linux && !portable

package asm

import cpuidlib "github.com/klauspost/cpuid/v2"

// auxCPU is the part of TSC_AUX in which Linux keeps the number of the CPU; the node is above it.
const auxCPU = 1<<12 - 1

// howCPU is the cheapest way to read the CPU's number that works here, chosen at start.
var howCPU = chooseCPU()

const (
	cpuBySyscall = iota
	cpuByRDTSCP
	cpuByRDPID
)

// CPU returns the number of the processor that the caller runs on, as the kernel counts them, without a system call
// where the processor can tell. Unless the thread is bound it may be outdated at once.
func CPU() int {
	switch howCPU {
	case cpuByRDPID:
		return int(rdpid() & auxCPU)
	case cpuByRDTSCP:
		return int(rdtscp() & auxCPU)
	}
	return getcpu()
}

// chooseCPU returns howCPU.
func chooseCPU() int {
	if _, _, ecx, _ := CPUID(7, 0); ecx&(1<<22) != 0 && agrees(rdpid) {
		return cpuByRDPID
	}
	if cpuidlib.CPU.Supports(cpuidlib.RDTSCP) && agrees(rdtscp) {
		return cpuByRDTSCP
	}
	return cpuBySyscall
}

// agrees reports whether an instruction returns what the system call returns; if the thread moves in between it tries
// again. It is false under a kernel or sandbox that does not set TSC_AUX.
func agrees(read func() uint32) bool {
	for range 100 {
		before := int(read() & auxCPU)
		now := getcpu()
		if after := int(read() & auxCPU); before == after {
			return before == now
		}
	}
	return false
}

//go:noescape
func rdpid() uint32

//go:noescape
func rdtscp() uint32
