package nmad

import "golang.org/x/sys/unix"

// kernelYield offers this CPU to other OS threads. A raw system call: the
// calling thread keeps its P and its VP, because it is back in a microsecond
// unless somebody needs the CPU.
func kernelYield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
