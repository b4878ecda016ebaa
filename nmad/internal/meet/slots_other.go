//go:build !linux

package meet

// maxSlots is how many unproven connections there may be at once; more wait in the kernel's queue.
func maxSlots() int { return 64 }
