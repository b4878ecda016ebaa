//go:build !linux

package machine

import (
	"os/exec"
	"runtime"
	"time"
)

var epoch = time.Now()

// The counterparts of mask_linux.go and threads_linux.go: masks and limits are not read, OS
// threads not told apart.

// IsUsable tells whether the process may use a CPU.
func IsUsable(cpu int) bool             { return cpu < runtime.NumCPU() }
func Widen(int)                         {}
func Widened(f func())                  { f() }
func IsBound() bool                     { return false }
func OnFirstThread() bool               { return false }
func Monotonic() int64                  { return int64(time.Since(epoch)) } // no common time with other processes
func DiesWithParent(cmd *exec.Cmd) bool { return false }
func ThreadBound() int                  { return MaxThreads }
