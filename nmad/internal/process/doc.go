// Package process has the kernel copy between this process and memory of another one, which has no part in it. On Linux
// only.
package process
