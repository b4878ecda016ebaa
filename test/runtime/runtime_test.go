package runtime_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/test/runtime/exercise"
)

var storm = flag.Duration("storm", 0, "how long threads are asked to stop while they yield, under collections; 0: as -long and -short say")

// alwaysCollecting has the collector run all the time until the test ends.
func alwaysCollecting(t *testing.T) {
	old := debug.SetGCPercent(5)
	t.Cleanup(func() { debug.SetGCPercent(old) })
}

// checked reports what exercise has found.
func checked(t *testing.T) func(exercise.Report, error) exercise.Report {
	return func(r exercise.Report, err error) exercise.Report {
		t.Helper()
		if t.Logf("%+v", r); err != nil {
			t.Error(err)
		}
		return r
	}
}

// builds skips tests that build programs.
func builds(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command here")
	}
}

// needsC skips tests that want a C compiler.
func needsC(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc here")
	}
}

// build builds a program of testdata, in the environment given, and returns its path.
func build(t *testing.T, program string, env []string, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), program)
	cmd := exec.Command("go", append(append([]string{"build", "-o", binary}, flags...), "./testdata/"+program)...)
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", strings.Join(flags, " "), err, text)
	}
	return binary
}

// succeeds runs the command, which is to end with status 0 and the line "done".
func succeeds(t *testing.T, cmd *exec.Cmd) (output string) {
	t.Helper()
	text, err := combined(t, cmd)
	if err != nil || !strings.Contains(text, "done") {
		t.Errorf("%s: %v\n%s", cmd, err, tail(text))
	}
	return text
}

// combined runs the command, for a minute at most.
func combined(t *testing.T, cmd *exec.Cmd) (output string, err error) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) }) // a dump
	last := time.AfterFunc(70*time.Second, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	if last.Stop(); !late.Stop() {
		t.Error("it does not end")
	}
	return out.String(), err
}

// tail bounds what a dump adds to the log.
func tail(text string) string { return text[:min(len(text), 20_000)] }
