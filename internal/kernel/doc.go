// Package kernel has the system calls that more than one room of this module makes:
//
//   - the names of this start of the kernel and of the name spaces of this process: processes with equal names share what the name
//     space holds, such as pids or network interfaces;
//   - the CPUs and the scheduling policy of OS threads, yields, barriers, futexes;
//   - whether a system call is refused, by the kernel or by a sandbox around the process.
//
// Sets of CPUs are the kernel's words here; topo.CPUSet is the set that the rooms use. On systems other than Linux the
// functions that read or set something of an OS thread return errors.ErrUnsupported.
package kernel
