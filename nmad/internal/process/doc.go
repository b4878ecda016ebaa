// Package process copies between memory of this process and memory of another process, by a system call in which the
// other process takes no part. On Linux only.
package process
