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

// TestExplain: an error of a call that may be refused says which one it is and what to do, once, and so does one of a process that may open no more; any
// other one stays as it is.
func TestExplain(t *testing.T) {
	for _, errno := range refusals {
		err := fmt.Errorf("open it: %w", os.NewSyscallError("memfd_create", errno))
		got := Explain(fmt.Errorf("again: %w", Explain(err)))
		if Refused(got) != "memfd_create" || !errors.Is(got, errno) || strings.Count(got.Error(), "let it through") != 1 {
			t.Errorf("%v is explained as %q", err, got)
		}
	}
	full := os.NewSyscallError("eventfd2", syscall.EMFILE)
	if got := Explain(Explain(full)); !errors.Is(got, syscall.EMFILE) || strings.Count(got.Error(), "ulimit -n") != 1 || Refused(got) != "" {
		t.Errorf("%v is explained as %q", full, got)
	}
	for _, err := range []error{nil, io.EOF, syscall.EPERM, os.NewSyscallError("connect", syscall.ECONNREFUSED)} {
		if got := Explain(err); got != err || Refused(err) != "" {
			t.Errorf("%v is explained as %q", err, got)
		}
	}
}
