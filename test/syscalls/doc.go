// Package syscalls has a test only: it counts the system calls that the everyday operations of
// threads make, in a process that it traces.
package syscalls
