// Package kernel names the kernel, and the name spaces in it, in which this process runs. Processes with equal names share
// what the name space holds: pids, network interfaces.
package kernel
