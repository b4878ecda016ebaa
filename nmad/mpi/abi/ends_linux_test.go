//go:build cgo && !race

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/orphans"
)

// TestEnds: however a rank ends, the others, which wait for it, end as well, mpiexec says which one it was and how,
// and has its status; nothing is left.
func TestEnds(t *testing.T) {
	program := compile(t, "ends")
	before := orphans.Files()
	for _, c := range []struct {
		how    string
		status int
		says   string // after the rank and its pid
	}{
		{"killed", 137, "was killed by signal 9 (killed)"},
		{"crashed", 139, "was killed by signal 11 (segmentation fault)"},
		{"divided", 136, "was killed by signal 8 (floating point exception)"},
		{"aborted", 134, "was killed by signal 6 (aborted)"},
		{"stopped", 137, "was stopped and did not go on when the others had ended or failed: killed"},
		{"returned", 1, "ended with status 0 without closing its session, while others had theirs open: have the program call Session.Close, in C MPI_Finalize"},
		{"exited", 3, "exited with status 3"},
		{"left", 4, "exited with status 4"},
		{"asked", 7, "exited with status 7"},
	} {
		cmd := exec.Command(filepath.Join(build(t), "mpiexec"), "-grace", "0.3", "-n", "3", program, c.how)
		if c.how == "stopped" {
			cmd.Env = append(os.Environ(), "PM2_HEARTBEAT=300ms")
		}
		out, err := output(t, cmd)
		exit := (*exec.ExitError)(nil)
		if says := regexp.MustCompile(`rank 1 \(pid \d+\) ` + regexp.QuoteMeta(c.says)); !errors.As(err, &exit) || exit.ExitCode() != c.status || !says.MatchString(out) || strings.Contains(out, "went on") {
			t.Errorf("%s: %v, want status %d\n%s", c.how, err, c.status, out)
		}
		nothingOf(t, out)
	}
	if after := orphans.Files(); !slices.Equal(before, after) {
		t.Errorf("/dev/shm had %v, and has %v", before, after)
	}
}

// TestManagers: a program starts under what is there of the launchers of other libraries, as a job of several, and
// MPI_Abort has its status where the launcher passes it on.
func TestManagers(t *testing.T) {
	for _, m := range []struct {
		name  string
		flags []string
		abort int // 0: any that is not 0
	}{
		{"mpiexec.hydra", nil, 7},
		{"mpirun.openmpi", []string{"--allow-run-as-root", "--oversubscribe"}, 0},
	} {
		t.Run(m.name, func(t *testing.T) {
			path, err := exec.LookPath(m.name)
			if err != nil {
				t.Skipf("no %s here (Debian: mpich, openmpi-bin)", m.name)
			}
			start := func(program string, args ...string) (string, error) {
				return output(t, exec.Command(path, slices.Concat(m.flags, []string{"-n", "3", program}, args)...))
			}
			if out, err := start(compile(t, "collectives")); err != nil || !strings.Contains(out, "all is well") {
				t.Errorf("%v\n%s", err, out)
			}
			out, err := start(compile(t, "ends"), "asked")
			exit := (*exec.ExitError)(nil)
			if !errors.As(err, &exit) || m.abort != 0 && exit.ExitCode() != m.abort {
				t.Errorf("MPI_Abort: %v\n%s", err, out)
			}
			nothingOf(t, out)
		})
	}
}

// TestMute: a program whose launcher gives it nothing to find the others by is no job of one: it says what to do.
func TestMute(t *testing.T) {
	cmd := exec.Command(compile(t, "collectives"))
	cmd.Env = append(os.Environ(), "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2")
	if out, err := output(t, cmd); err == nil || !strings.Contains(out, "srun --mpi=pmi2") || strings.Contains(out, "all is well") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestBacktrace: with our script for gdb a backtrace of a thread that waits in MPI goes on to the program.
func TestBacktrace(t *testing.T) {
	gdb, err := exec.LookPath("gdb")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no gdb here, or another processor")
	}
	job := exec.Command(compile(t, "waits", "-g"))
	output, err := job.StdoutPipe()
	if err == nil {
		err = job.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = job.Process.Kill()
		_ = job.Wait()
	}()
	if _, err := output.Read(make([]byte, 1)); err != nil { // it is about to wait
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; {
		out, err := exec.Command(gdb, "-batch", "-nx", "-iex", "set auto-load no", "-p", strconv.Itoa(job.Process.Pid), "-x", "gdb.py", "-ex", "bt").CombinedOutput()
		switch text := string(out); {
		case strings.Contains(text, "ptrace: Operation not permitted"):
			t.Skip("this system lets gdb look into no process")
		case regexp.MustCompile(`(?s) PMPI_Recv .* waits_here .* main `).MatchString(text):
			return
		case time.Now().After(end):
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// nothingOf waits until the processes are gone whose pids a job has written.
func nothingOf(t *testing.T, out string) {
	t.Helper()
	pids := regexp.MustCompile(`(?m)^pid (\d+)$`).FindAllStringSubmatch(out, -1)
	if len(pids) == 0 {
		t.Errorf("no process has said its pid: %s", out)
	}
	for _, m := range pids {
		pid, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d lives on", pid)
			}
		}
	}
}
