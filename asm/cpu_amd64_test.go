//go:build linux && !portable

package asm

import (
	"testing"

	cpuidlib "github.com/klauspost/cpuid/v2"
)

// Every way that the machine offers gives the same answer, not only the chosen one.
func TestEveryWayToTheCPUAgrees(t *testing.T) {
	if howCPU == cpuBySyscall {
		t.Skip("neither RDPID nor RDTSCP is usable here")
	}
	if cpuidlib.CPU.Supports(cpuidlib.RDTSCP) && !agrees(rdtscp) {
		t.Error("RDTSCP and getcpu differ")
	}
	if howCPU == cpuByRDPID && !agrees(rdpid) {
		t.Error("RDPID and getcpu differ")
	}
	chosen := howCPU
	defer func() { howCPU = chosen }()
	for _, howCPU = range []int{cpuBySyscall, cpuByRDTSCP, chosen} {
		if !agrees(func() uint32 { return uint32(CPU()) }) {
			t.Errorf("way %d and getcpu differ", howCPU)
		}
	}
	if agrees(func() uint32 { return auxCPU }) {
		t.Error("a register that the kernel does not set was taken for the number of the CPU")
	}
}
