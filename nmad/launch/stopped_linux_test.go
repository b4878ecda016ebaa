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

// TestStoppedGoesOn: one that is stopped and continued, or still runs, is left alone.
func TestStoppedGoesOn(t *testing.T) {
	j, err := Start(Spec{N: 2, Heartbeat: time.Hour, Grace: time.Hour, Path: "sh", Args: []string{"-c", "test $PM2_RANK = 0 || kill -STOP $$"}})
	if err != nil {
		t.Fatal(err)
	}
	for !isStopped(j.PID(1)) || alive(j.PID(0)) {
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

// TestStopKey: the signal of a terminal's stop key stops the ranks and the launcher, as often as it comes, and they go on
// together; the job still ends as it should.
func TestStopKey(t *testing.T) {
	cmd, pids := parent(t, "parent signals")
	all := append([]int{cmd.Process.Pid}, pids...)
	until := func(want bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			n := 0
			for _, pid := range all {
				if isStopped(pid) == want {
					n++
				}
			}
			if n == len(all) {
				return
			}
			if time.Now().After(end) {
				cmd.Process.Kill()
				t.Fatalf("of launcher and ranks %d of %d are stopped: %v; want %v", n, len(all), want, want)
			}
		}
	}
	for range 3 {
		cmd.Process.Signal(syscall.SIGTSTP)
		until(true)
		cmd.Process.Signal(syscall.SIGCONT)
		until(false)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	gone(t, pids...)
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGTERM {
		t.Errorf("the launcher ended with %v, want that it died of SIGTERM", cmd.ProcessState)
	}
}
