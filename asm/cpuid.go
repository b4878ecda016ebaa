package asm

import (
	"bytes"
	"encoding/binary"
)

// CPUID returns what the processor on which the caller runs answers to a leaf: zeros if it has no such leaf, and on
// processors other than amd64. In a virtual machine each call traps twice, some microseconds each: not for hot paths.
func CPUID(leaf, sub uint32) (eax, ebx, ecx, edx uint32) {
	if most, _, _, _ := cpuid(leaf&0xffff0000, 0); most < leaf || most>>16 != leaf>>16 {
		return 0, 0, 0, 0
	}
	return cpuid(leaf, sub)
}

// Brand is what the processor calls itself, such as "AMD EPYC 9V74 80-Core Processor"; "" if it does not say.
func Brand() string {
	var b []byte
	for leaf := uint32(0x80000002); leaf <= 0x80000004; leaf++ {
		eax, ebx, ecx, edx := CPUID(leaf, 0)
		for _, word := range [...]uint32{eax, ebx, ecx, edx} {
			b = binary.LittleEndian.AppendUint32(b, word)
		}
	}
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(bytes.TrimSpace(b))
}
