// Package kernel is what this module asks the kernel, where more than one room asks the same: the names of the kernel and of the
// name spaces in it, in which this process runs (processes with equal names share what the name space holds: pids, network
// interfaces); the CPUs, the policy and the turns of OS threads; whether a system call is refused, by the kernel or by a sandbox
// around the process. Sets of CPUs come and go as the kernel's words; topo.CPUSet is
// the set that the rooms use.
//
// On systems other than Linux what sets or reads something of an OS thread says errors.ErrUnsupported.
package kernel
