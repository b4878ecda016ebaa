package nmad

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// kernelYield offers this CPU to other OS threads. Go knows of the system call: on a crowded CPU it may take seconds, and the collector
// would wait for a P that the caller kept.
func kernelYield() { _, _, _ = syscall.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
