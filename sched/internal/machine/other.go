//go:build !linux

package machine

import (
	"os/exec"
	"time"
)

var epoch = time.Now()

// The counterparts of process_linux.go and threads_linux.go, which do not read limits, nor tell OS threads apart.

func OnFirstThread() bool               { return false }
func Monotonic() int64                  { return int64(time.Since(epoch)) } // no common time with other processes
func DiesWithParent(cmd *exec.Cmd) bool { return false }
func ThreadBound() int                  { return MaxThreads }
