//go:build !linux

package sched

import (
	"os/exec"
	"runtime"
)

// The counterparts of os_linux.go and osthreads_linux.go: masks and limits are not read, OS
// threads not told apart.

func isUsable(cpu int) bool             { return cpu < runtime.NumCPU() }
func widen(int)                         {}
func widened(f func())                  { f() }
func isBound() bool                     { return false }
func onFirstThread() bool               { return false }
func Monotonic() int64                  { return nanotime() } // no common time with other processes
func diesWithParent(cmd *exec.Cmd) bool { return false }
func osThreadBound() int                { return defaultMaxLWPs }
