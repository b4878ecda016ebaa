//go:build !amd64 || portable

package asm

func cpuid(uint32, uint32) (eax, ebx, ecx, edx uint32) { return 0, 0, 0, 0 }
