//go:build !portable

package asm

import cpuidlib "github.com/klauspost/cpuid/v2"

// announcedHz returns the rate of the time-stamp counter in Hz as the processor or the hypervisor announces it, 0 if
// neither does. The clock rate in the brand string and leaf 0x16 is that of the core, not of the counter: not used.
// Each leaf is a trap of some microseconds in a virtual machine.
func announcedHz() (hz int64, exact bool) {
	// Leaf 0x15: crystal frequency (ecx, Hz) times a ratio (ebx/eax). Many processors leave the crystal at 0.
	if den, num, crystal, _ := CPUID(0x15, 0); den != 0 && num != 0 && crystal != 0 {
		return int64(uint64(crystal) * uint64(num) / uint64(den)), false
	}
	// Leaf 0x40000010 of VMware, which other hypervisors have, too: eax in kHz.
	if cpuidlib.CPU.Supports(cpuidlib.HYPERVISOR) {
		khz, _, _, _ := CPUID(0x40000010, 0)
		return int64(khz) * 1000, false
	}
	return 0, false
}
