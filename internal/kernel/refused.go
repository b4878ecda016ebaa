package kernel

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// refusals are the errors of a system call that a sandbox refuses, or that the kernel does not have.
var refusals = []syscall.Errno{syscall.EPERM, syscall.ENOSYS, syscall.EACCES, syscall.EINVAL}

// Refuses reports whether a system call that has ended so may be refused.
func Refuses(errno syscall.Errno) bool { return slices.Contains(refusals, errno) }

// Refused returns the name of the system call that has failed with err, if the call may be refused: then a further try
// is of no use. Otherwise it returns the empty string.
func Refused(err error) (call string) {
	var c *os.SyscallError
	if errors.As(err, &c) {
		if errno, ok := c.Err.(syscall.Errno); ok && Refuses(errno) {
			return c.Syscall
		}
	}
	return ""
}

// Explain adds advice to err, once, if a system call may be refused, or if no more descriptors may be open. It returns
// other errors unchanged.
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

// explained is an error of a system call with advice to the user.
type explained struct {
	err    error
	advice string
}

func (e *explained) Error() string { return fmt.Sprintf("%v; %s", e.err, e.advice) }

func (e *explained) Unwrap() error { return e.err }
