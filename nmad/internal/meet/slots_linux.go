package meet

import "golang.org/x/sys/unix"

// Bounds on how many connections have a slot at once; more wait in the kernel's queue.
const (
	fewestSlots = 64
	mostSlots   = 4096
)

// maxSlots is how many unproven connections there may be at once: those of all acceptors take half of the descriptors
// of the process at most.
func maxSlots() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fewestSlots
	}
	return int(min(max(l.Cur/2, fewestSlots), mostSlots))
}
