//go:build !portable

package asm

//go:noescape
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
