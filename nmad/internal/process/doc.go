// Package process has what a process does with others of its host: it copies between its memory and that of another
// process, by a system call in which the other process takes no part; it waits for the end of a process; it removes the
// files that processes which have ended have left in /dev/shm. On Linux only.
package process
