package asm

import cpuidlib "github.com/klauspost/cpuid/v2"

// CPUID returns what the processor on which the caller runs answers to a leaf: zeros if it has no such leaf, and on
// processors other than amd64. The library has names for features; this is for the leaves that it does not export. In a
// virtual machine each call traps twice, some microseconds each: not for hot paths.
func CPUID(leaf, sub uint32) (eax, ebx, ecx, edx uint32) {
	if most, _, _, _ := cpuid(leaf&0xffff0000, 0); most < leaf || most>>16 != leaf>>16 {
		return 0, 0, 0, 0
	}
	return cpuid(leaf, sub)
}

// Brand is what the processor calls itself, such as "AMD EPYC 9V74 80-Core Processor"; "" if it does not say.
func Brand() string { return cpuidlib.CPU.BrandName }
