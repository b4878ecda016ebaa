package door

import "golang.org/x/sys/unix"

// Bounds on how many strangers have a seat at once; more wait in the kernel's queue.
const (
	fewestSeats = 64
	mostSeats   = 4096
)

// seats is how many strangers may be inside at once: those of all doors have half of the descriptors of
// the process at most.
func seats() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fewestSeats
	}
	return int(min(max(l.Cur/2, fewestSeats), mostSeats))
}
