package launch

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// served is a job whose ranks find a server of PMI, and run a script; or is refused.
func served(t *testing.T, n int, grace time.Duration, out func(int) io.Writer, script string) (*Job, error) {
	t.Helper()
	j, err := Start(Spec{N: n, PMI: true, Path: "/bin/sh", Args: []string{"-c", "init() { echo cmd=init pmi_version=1 pmi_subversion=1 >&$PMI_FD; }; " + script}, Stdout: out, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-j.Done():
	case <-time.After(20 * time.Second):
		j.Kill()
		t.Errorf("the job goes on: %s", script)
	}
	return j, j.Wait()
}

// TestLeft: a rank that has joined by PMI and goes without a word ends the job, with status 1 and its rank; its own
// failure goes first.
func TestLeft(t *testing.T) {
	const grace = 100 * time.Millisecond
	left := (*LeaveError)(nil)
	for _, end := range []string{"exit 0", "echo nonsense >&$PMI_FD; exec cat <&$PMI_FD >&2"} {
		_, err := served(t, 2, grace, nil, "init; if test $PMI_RANK = 1; then "+end+"; fi; echo cmd=barrier_in >&$PMI_FD; exec cat <&$PMI_FD >&2")
		if !errors.As(err, &left) || left.Rank != 1 {
			t.Errorf("%s: the job ended with %v", end, err)
		}
	}
	if _, err := served(t, 1, grace, nil, "init; setsid sleep 1 & exit 0"); !errors.As(err, &left) { // the connection is left open
		t.Errorf("a rank that leaves its connection to another process: %v", err)
	}
	exit := (*ExitError)(nil)
	if _, err := served(t, 2, grace, nil, "init; test $PMI_RANK = 1 && exit 7; exec sleep 3600"); !errors.As(err, &exit) || exit.Rank != 1 || exit.Status() != 7 {
		t.Errorf("a rank ends with 7, the job with %v", err)
	}
	if _, err := served(t, 2, grace, nil, "init; echo cmd=finalize >&$PMI_FD"); err != nil {
		t.Errorf("all say finalize, and the job ends with %v", err)
	}
}

// TestAbortWhileStarting: a rank asks for the end of the job while others are still started: they are not.
func TestAbortWhileStarting(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := func(rank int) io.Writer {
		switch rank {
		case 0:
			return w
		case 1: // goes on when rank 0 is dead, killed at its own request
			w.Close()
			_, _ = io.Copy(io.Discard, r)
		}
		return io.Discard
	}
	j, err := served(t, 3, time.Hour, out, "test $PMI_RANK = 0 && echo cmd=abort exitcode=9 message=$(echo so be it) >&$PMI_FD; exec sleep 3600")
	abort := (*AbortError)(nil)
	if !errors.As(err, &abort) || abort.Status != 9 || abort.Rank != 0 || !strings.Contains(err.Error(), "rank 0") {
		t.Errorf("the job ended with %v", err)
	}
	if j.PID(0) == 0 || j.PID(2) != 0 {
		t.Errorf("pids %d and %d: want that rank 0 was started, and rank 2 was not", j.PID(0), j.PID(2))
	}
}
