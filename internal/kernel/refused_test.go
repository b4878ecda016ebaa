package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestExplain: an error of a call that may be refused says which one it is and what to do, once; any other one stays as it is.
func TestExplain(t *testing.T) {
	for _, errno := range refusals {
		err := fmt.Errorf("open it: %w", os.NewSyscallError("memfd_create", errno))
		got := Explain(fmt.Errorf("again: %w", Explain(err)))
		if Refused(got) != "memfd_create" || !errors.Is(got, errno) || strings.Count(got.Error(), "let it through") != 1 {
			t.Errorf("%v is explained as %q", err, got)
		}
	}
	for _, err := range []error{nil, io.EOF, syscall.EPERM, os.NewSyscallError("connect", syscall.ECONNREFUSED), os.NewSyscallError("accept4", syscall.EMFILE)} {
		if got := Explain(err); got != err || Refused(err) != "" {
			t.Errorf("%v is explained as %q", err, got)
		}
	}
}
