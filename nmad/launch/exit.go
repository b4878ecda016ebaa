package launch

import (
	"fmt"
	"os"
	"syscall"
)

// ExitError tells how a process of the job ended that should not have.
type ExitError struct {
	Rank   int
	Remote *Remote // what failed is the remote shell for these ranks, Rank being the first; nil: the rank itself
	PID    int
	State  *os.ProcessState // nil if it could not be waited for
	Err    error            // what os/exec says
}

// Error names the rank and how it ended.
func (e *ExitError) Error() string {
	who := fmt.Sprintf("rank %d (pid %d)", e.Rank, e.PID)
	if e.Remote != nil {
		who = e.Remote.String()
	}
	if e.State != nil {
		if ws, ok := e.State.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			return fmt.Sprintf("%s was killed by signal %d (%v)", who, int(ws.Signal()), ws.Signal())
		}
		if code := e.State.ExitCode(); code > 0 {
			return fmt.Sprintf("%s exited with status %d", who, code)
		}
	}
	return fmt.Sprintf("%s: %v", who, e.Err)
}

// Status is the exit status that stands for it in a shell: its own, 128 and the
// number of the signal that killed it, or 1.
func (e *ExitError) Status() int {
	if e.State == nil {
		return 1
	}
	if ws, ok := e.State.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return max(e.State.ExitCode(), 1)
}

// Unwrap returns the *exec.ExitError, if there is one.
func (e *ExitError) Unwrap() error { return e.Err }
