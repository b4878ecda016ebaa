package managers

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// withPMIx is this program, built with libpmix; the test is skipped where that cannot be built or loaded.
func withPMIx(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc, which builds with libpmix need")
	}
	for _, pattern := range []string{"/usr/lib/*/libpmix.so.2", "/usr/lib/libpmix.so.2", "/usr/lib64/libpmix.so.2"} {
		if found, _ := filepath.Glob(pattern); found != nil {
			return build(t, ".", "-c", "-tags", "pmix")
		}
	}
	t.Skip("no libpmix here (Debian: libpmix2)")
	return ""
}

// orterun is the command of a job under Open MPI's; the test is skipped without.
func orterun(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	for _, name := range []string{"prterun", "orterun"} {
		if path, err := exec.LookPath(name); err == nil {
			return exec.Command(path, append([]string{"--allow-run-as-root", "--oversubscribe"}, words...)...)
		}
	}
	t.Skip("neither prterun nor orterun here (Debian: openmpi-bin)")
	return nil
}

// TestPMIx: jobs of Open MPI's launcher, which is a PMIx server.
func TestPMIx(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program with cgo")
	}
	t.Parallel() // most of it is waiting for launchers
	orterun(t)   // skip before building
	program := withPMIx(t)
	t.Run("ring", func(t *testing.T) {
		status, text := outcome(t, orterun(t, "-n", "4", program, "ring"), time.Minute)
		if status != 0 || strings.Count(text, " of 4\n") != 4 {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("not built in", func(t *testing.T) {
		status, text := outcome(t, orterun(t, append([]string{"-n", "2"}, self("ring")...)...), time.Minute)
		if status == 0 || !strings.Contains(text, "-tags pmix") {
			t.Errorf("status %d: %s", status, text)
		}
	})
	for name, action := range map[string][]string{
		"a rank exits":     {"doomed", "exit", "2", "7"},
		"a rank aborts":    {"doomed", "abort", "1", "9"},
		"a rank is killed": {"doomed", "kill", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			j := begin(t, orterun(t, append([]string{"-n", "4", program}, action...)...), 4)
			if status := j.ended(t); status == 0 {
				t.Errorf("status 0: %s", j.text)
			}
		})
	}
	t.Run("the manager is killed", func(t *testing.T) {
		j := begin(t, orterun(t, "-n", "4", program, "loop"), 4)
		_ = j.c.Process.Kill()
		j.ended(t)
	})
}
