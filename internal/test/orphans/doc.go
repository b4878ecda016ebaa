// Package orphans is there for tests. It finds what processes that have ended have left in /dev/shm. Processes of other
// jobs on the host, such as those of a test that runs at the same time, may have files there, too: those files are no
// orphans as long as a process has them.
package orphans
