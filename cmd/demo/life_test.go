package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
)

func twoCPUs() bool {
	_, _, ok := binding.Pair(binding.Allowed())
	return ok
}

// hang is how long a test waits for what should take two seconds at most, on a machine
// that may be busy with other things. What it really took is logged.
const hang = 20 * time.Second

// job is a running ping-pong.
type job struct {
	*exec.Cmd
	ended chan struct{}
	rank1 int
}

// startJob starts a long ping-pong in a process group of its own and returns when its
// first row is there.
func startJob(t *testing.T, args ...string) *job {
	t.Helper()
	path, err := exec.LookPath("demo")
	if err != nil {
		t.Fatal(err)
	}
	j := &job{ended: make(chan struct{})}
	j.Cmd = exec.Command(path, append([]string{
		"pingpong", "--format", "csv", "--iters", "3000", "--sizes", strings.Repeat("1:4M,", 20) + "1",
	}, args...)...)
	j.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// An *os.File, so that Wait does not wait for rank 1 to close it as well.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	j.Stdout = w
	errs, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	j.Stderr = errs
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() {
		_ = j.Wait() // the state says it
		close(j.ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-j.Process.Pid, syscall.SIGKILL) // whatever a failed test has left
		<-j.ended
		r.Close()
		errs.Close()
	})
	rows := bufio.NewReader(r)
	for range 2 { // the heading and a row
		if _, err := rows.ReadString('\n'); err != nil {
			text, _ := os.ReadFile(errs.Name())
			t.Fatalf("no row came: %v\n%s", err, text)
		}
	}
	go func() { // let it go on
		for {
			if _, err := rows.ReadString('\n'); err != nil {
				return
			}
		}
	}()
	j.rank1 = childOf(t, j.Process.Pid)
	return j
}

// wait returns the exit status and the lines of stderr once rank 0 has ended.
func (j *job) wait(t *testing.T) (status int, lines []string) {
	t.Helper()
	start := time.Now()
	select {
	case <-j.ended:
	case <-time.After(hang):
		t.Fatalf("rank 0 did not end within %v", hang)
	}
	t.Logf("rank 0 ended after %v", time.Since(start).Round(time.Millisecond))
	return j.ProcessState.ExitCode(), j.lines(t)
}

func (j *job) lines(t *testing.T) []string {
	text, err := os.ReadFile(j.Stderr.(*os.File).Name())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "demo: note: ") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// awaitGone waits until a process that is not our child has ended.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	start := time.Now()
	for alive(pid) {
		if time.Since(start) > hang {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("process %d was gone after %v", pid, time.Since(start).Round(time.Millisecond))
}

// alive reports whether a process exists and is more than an entry in the table.
func alive(pid int) bool {
	state, _ := status(pid)
	return state != "" && state != "Z" && state != "X"
}

// status returns the state and the parent of a process; "" if there is none.
func status(pid int) (state string, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	// The name, in parentheses, may hold anything.
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')'):]), " ")
	fields := strings.Fields(rest)
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// childOf finds rank 1.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, dir := range all {
		child, _ := strconv.Atoi(filepath.Base(dir))
		if _, parent := status(child); parent == pid {
			if found != 0 {
				t.Fatalf("rank 0 has two children, %d and %d", found, child)
			}
			found = child
		}
	}
	if found == 0 {
		t.Fatal("rank 0 has no child")
	}
	return found
}

// eachWay runs test over each driver with each engine; with -short over each driver with one.
func eachWay(t *testing.T, test func(t *testing.T, args ...string)) {
	for i, driver := range []string{"shm", "tcp"} {
		for k, engine := range []string{"hooks", "threads", "explicit"} {
			if testing.Short() && k != i {
				continue
			}
			t.Run(driver+" "+engine, func(t *testing.T) { test(t, "--driver", driver, "--engine", engine) })
		}
	}
}

// TestKillRank1: rank 0 says which rank was lost and why, with status 1.
func TestKillRank1(t *testing.T) {
	eachWay(t, func(t *testing.T, args ...string) {
		j := startJob(t, args...)
		noNamedMemory(t, j.Process.Pid)
		noNamedMemory(t, j.rank1)
		if err := syscall.Kill(j.rank1, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		code, lines := j.wait(t)
		if code != 1 || len(lines) != 1 || !strings.Contains(lines[0], "rank 1") || !strings.Contains(lines[0], "killed by signal 9") {
			t.Errorf("status %d, %q; want 1 and one line that says that rank 1 was killed by signal 9", code, lines)
		}
		awaitGone(t, j.rank1)
	})
}

// TestKillRank0: rank 1 ends and says so.
func TestKillRank0(t *testing.T) {
	eachWay(t, func(t *testing.T, args ...string) {
		j := startJob(t, args...)
		if err := j.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		j.wait(t)
		awaitGone(t, j.rank1)
		if lines := j.lines(t); len(lines) != 1 || !strings.Contains(lines[0], "rank 0") {
			t.Errorf("%q; want one line about rank 0", lines)
		}
	})
}

// TestInterrupt: Ctrl-C, which a terminal sends to the process group of rank 0.
func TestInterrupt(t *testing.T) {
	eachWay(t, func(t *testing.T, args ...string) {
		j := startJob(t, args...)
		if err := syscall.Kill(-j.Process.Pid, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		code, lines := j.wait(t)
		if code != 130 || len(lines) != 1 || lines[0] != "demo: interrupted (SIGINT)" {
			t.Errorf("status %d, %q", code, lines)
		}
		awaitGone(t, j.rank1)
	})
}

// TestInterruptBesideStopped: a Ctrl-C ends an experiment also when its second process is
// stopped and will never say anything.
func TestInterruptBesideStopped(t *testing.T) {
	path, err := exec.LookPath("demo")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "experiment", "E16", "--iters", "1000000", "--rounds", "100")
	heading, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(3*hang, func() { _ = c.Process.Kill() })
	defer overdue.Stop()
	if _, err := bufio.NewReader(heading).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // most likely messages are under way; at any other moment it must end, too
	follower := childOf(t, c.Process.Pid)
	for _, step := range []struct {
		pid    int
		signal syscall.Signal
	}{{follower, syscall.SIGSTOP}, {c.Process.Pid, syscall.SIGINT}} {
		if err := syscall.Kill(step.pid, step.signal); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Wait() // the state says it
	if got := c.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit status %d, want 130", got)
	}
	awaitGone(t, follower)
}

// TestTerminate: SIGTERM to rank 0 alone, as a supervisor sends it.
func TestTerminate(t *testing.T) {
	j := startJob(t)
	if err := j.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, lines := j.wait(t)
	if code != 143 || len(lines) != 1 || lines[0] != "demo: interrupted (SIGTERM)" {
		t.Errorf("status %d, %q", code, lines)
	}
	awaitGone(t, j.rank1)
}

// TestStoppedReader: a closed stdout (demo | head) ends all processes, quietly.
func TestStoppedReader(t *testing.T) {
	path, err := exec.LookPath("demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"pingpong", "--format", "csv", "--iters", "100", "--sizes", "1:1M"},
		{"run", "-n", "2", "--", "sh", "-c", "while :; do echo a line; done"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		c := exec.Command(path, args...)
		c.Stdout, c.Stderr = w, &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		r.Close()
		hangs := time.AfterFunc(hang, func() { _ = c.Process.Kill() })
		err = c.Wait()
		hangs.Stop()
		if status := c.ProcessState.ExitCode(); status != 128+int(syscall.SIGPIPE) || errs.Len() > 0 {
			t.Errorf("%s: without a reader it ended with %v, and said %q", args[0], err, errs.String())
		}
	}
}

// TestBusyPort: one line that names the address, status 1.
func TestBusyPort(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	path, err := exec.LookPath("demo")
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	c := exec.Command(path, "pingpong", "--sizes", "1", "--iters", "10", "--format", "json", "--listen", busy.Addr().String())
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run()
	line := errs.String()
	if c.ProcessState.ExitCode() != 1 || out.Len() > 0 || strings.Count(line, "\n") != 1 ||
		!strings.Contains(line, busy.Addr().String()) || !strings.Contains(line, "in use") {
		t.Errorf("status %d, stdout %q, stderr %q", c.ProcessState.ExitCode(), out.String(), line)
	}
	// A free one works.
	busy.Close()
	c = exec.Command(path, "pingpong", "--sizes", "1", "--iters", "10", "--listen", busy.Addr().String())
	if text, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// noNamedMemory: what a process shares has no name in /dev/shm, so that nothing can
// stay behind there however it ends.
func noNamedMemory(t *testing.T, pid int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "/dev/shm/") && !strings.Contains(line, "(deleted)") {
			t.Errorf("process %d maps %s", pid, line)
		}
	}
}
