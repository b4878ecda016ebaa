package launch

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStopped: with a heartbeat, a rank that is stopped does not hold the job once the others have ended;
// it is named.
func TestStopped(t *testing.T) {
	j, err := Start(Spec{N: 2, Heartbeat: 100 * time.Millisecond, Grace: 50 * time.Millisecond, Path: "sh", Args: []string{"-c", "test $PM2_RANK = 0 || kill -STOP $$"}})
	if err != nil {
		t.Fatal(err)
	}
	err = j.Wait()
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Rank != 1 || exit.Status() != 137 || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("the job ended with %v, want that rank 1 was stopped, status 137", err)
	}
	gone(t, j.PID(0), j.PID(1))
}

// TestStoppedGoesOn: who is stopped and continued, or still runs, is left alone.
func TestStoppedGoesOn(t *testing.T) {
	j, err := Start(Spec{N: 2, Heartbeat: time.Hour, Grace: time.Hour, Path: "sh", Args: []string{"-c", "test $PM2_RANK = 0 || kill -STOP $$"}})
	if err != nil {
		t.Fatal(err)
	}
	for !stopped(j.PID(1)) || alive(j.PID(0)) {
		time.Sleep(time.Millisecond)
	}
	for len(j.onlyStopped()) != 1 {
		time.Sleep(time.Millisecond) // rank 0 is dead, and soon reaped
	}
	j.Signal(syscall.SIGCONT)
	if err := j.Wait(); err != nil {
		t.Error(err)
	}
}
