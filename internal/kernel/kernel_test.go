package kernel

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestNames: a process and its child have the same names, which hold no blanks.
func TestNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("name spaces are Linux's")
	}
	boot, sure := Boot()
	if !sure || boot == "" || strings.ContainsAny(boot, " \n") {
		t.Errorf("the kernel's start is %q, sure %v", boot, sure)
	}
	for _, kind := range []string{"net", "pid"} {
		child, err := exec.Command("readlink", "/proc/self/ns/"+kind).Output()
		if err != nil {
			t.Skip(err)
		}
		if got := Space(kind); got != strings.TrimSpace(string(child)) {
			t.Errorf("name space %s: %q, a child says %q", kind, got, child)
		}
	}
	if got := Space("none such"); got != "" {
		t.Errorf("a name space of no kind: %q", got)
	}
}
