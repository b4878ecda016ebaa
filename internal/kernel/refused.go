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

// Explain adds to such an error what to do, and gives any other one back as it is.
func Explain(err error) error {
	if call := Refused(err); call != "" {
		return fmt.Errorf("%w; if a sandbox refuses the system call %s, let it through (docs/platforms.md says what each is for)", err, call)
	}
	return err
}
