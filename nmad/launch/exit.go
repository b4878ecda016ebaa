package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ExitError is the error of a process of the job that did not end as it should.
type ExitError struct {
	Rank    int
	Remote  *Remote // what failed is the remote shell for these ranks, Rank being the first; nil: the rank itself
	PID     int
	Stopped bool             // it was stopped by a signal when all others had ended, and was killed for that
	Open    bool             // it ended with status 0 and had not closed its session, while others had theirs open
	State   *os.ProcessState // nil if it could not be waited for
	Err     error            // what os/exec says
}

// Error names the rank and how it ended.
func (e *ExitError) Error() string {
	who := fmt.Sprintf("rank %d (pid %d)", e.Rank, e.PID)
	if e.Remote != nil {
		who = e.Remote.String()
	}
	if e.Stopped {
		return who + " was stopped and did not go on when the others had ended or failed: killed"
	}
	if e.Open {
		return who + " ended with status 0 without closing its session, while others had theirs open: have the program call Session.Close, in C MPI_Finalize, before it ends"
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

// Status returns the exit status that a shell has for it: the process's own, 128 and the number of the signal that
// killed it, or 1.
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

// OutputError is the error of a process of the job the end of whose output is lost.
type OutputError struct {
	Rank   int
	Remote *Remote // it is the output of these ranks, Rank being the first; nil: of the rank itself
	Err    error   // of the writer of Spec.Stdout or Spec.Stderr; or that a process which the rank has left running kept the pipe open, silent
}

// Error names the rank, and why.
func (e *OutputError) Error() string {
	who := fmt.Sprintf("rank %d", e.Rank)
	if e.Remote != nil {
		who = e.Remote.String()
	}
	return fmt.Sprintf("%s: the end of the output is lost: %v", who, e.Err)
}

// Unwrap returns Err.
func (e *OutputError) Unwrap() error { return e.Err }

// InterruptError is the error of a job that a signal to this process has ended (Spec.Signals).
type InterruptError struct {
	Signal syscall.Signal // the last one
	Killed bool           // it was not the first, and the job was killed
}

// Error names the signal.
func (e *InterruptError) Error() string {
	if e.Killed {
		return fmt.Sprintf("interrupted once more (%s), all processes killed", unix.SignalName(e.Signal))
	}
	return fmt.Sprintf("interrupted (%s)", unix.SignalName(e.Signal))
}

// Status returns the exit status that a shell has for it.
func (e *InterruptError) Status() int { return 128 + int(e.Signal) }

// raiseTimeout is how long Raise waits for the signal to take effect.
const raiseTimeout = time.Second

// Raise makes this process die of the signal, as shells expect of a program that was interrupted: so a loop in a
// script ends, too. Call it last. It returns where the signal does not end the process, such as the first process
// of a container; exit with Status then.
func (e *InterruptError) Raise() {
	signal.Reset(e.Signal)
	_ = syscall.Kill(os.Getpid(), e.Signal) // to ourselves: cannot fail
	time.Sleep(raiseTimeout)
}

// Exit statuses of a program that cannot be run, as shells have them.
const (
	StatusNotFound   = 127
	StatusNotAllowed = 126
)

// StartStatus returns the exit status that a shell has for an error of Start: 127 and 126 for a program that is
// not there or cannot be run, 1 for other errors.
func StartStatus(err error) int {
	var program *exec.Error
	var path *fs.PathError
	switch {
	case !errors.As(err, &program) && !errors.As(err, &path):
		return 1
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return StatusNotFound
	}
	return StatusNotAllowed
}
