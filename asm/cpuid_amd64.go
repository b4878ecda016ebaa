//go:build !portable

package asm

// cpuid reads one leaf; the library does not export the leaves that we need
// beyond its own features. In a virtual machine it traps: at start only.
//
//go:noescape
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
