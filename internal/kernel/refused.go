package kernel

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// refusals are what a system call ends with that a sandbox refuses, or that the kernel does not have.
var refusals = []syscall.Errno{syscall.EPERM, syscall.ENOSYS, syscall.EACCES, syscall.EINVAL}

// Refuses tells whether a system call that has ended so may be refused.
func Refuses(errno syscall.Errno) bool { return slices.Contains(refusals, errno) }

// Refused names the system call that has failed with err if it may be one that is refused: then to try again is
// of no use. Empty: it is not.
func Refused(err error) (call string) {
	var c *os.SyscallError
	if errors.As(err, &c) {
		if errno, ok := c.Err.(syscall.Errno); ok && Refuses(errno) {
			return c.Syscall
		}
	}
	return ""
}

// Explain adds to such an error, and to one that says that no more descriptors may be open, what to do, once, and gives any other one back as it is.
func Explain(err error) error {
	call := Refused(err)
	if _, done := errors.AsType[*explained](err); done {
		return err
	}
	switch {
	case call != "":
		return &explained{err, fmt.Sprintf("if a sandbox refuses the system call %s, let it through (docs/platforms.md says what each is for)", call)}
	case errors.Is(err, syscall.EMFILE):
		return &explained{err, "raise the limit of open descriptors (ulimit -n): a link takes up to four"}
	}
	return err
}

// explained is an error of a system call with what to do.
type explained struct {
	err    error
	advice string
}

func (e *explained) Error() string { return fmt.Sprintf("%v; %s", e.err, e.advice) }

func (e *explained) Unwrap() error { return e.err }
