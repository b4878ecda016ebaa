package managers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/orphans"
)

// endLimit is how long a job may take to be gone, once it has lost what it cannot do without.
const endLimit = 5 * time.Second

// hydra is the command of a job under mpiexec.hydra; the test is skipped without.
func hydra(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("mpiexec.hydra")
	if err != nil {
		t.Skip("no mpiexec.hydra here (Debian: mpich)")
	}
	return exec.Command(path, args...)
}

// outcome runs a job to its end, which must come within the limit.
func outcome(t *testing.T, c *exec.Cmd, limit time.Duration) (status int, text string) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(limit, func() {
		t.Errorf("%v has not ended after %v", c.Args, limit)
		_ = c.Process.Kill()
	})
	defer late.Stop()
	if err := c.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String()
}

// self is this program with an action.
func self(action ...string) []string { return append([]string{os.Args[0]}, action...) }

func TestHydra(t *testing.T) {
	for name, flags := range map[string][]string{
		"one host":       {"-n", "4"},
		"by a port":      {"-pmi-port", "-n", "4"},
		"two hosts":      {"-launcher", "fork", "-hosts", "n1,n2", "-ppn", "2", "-n", "4"},
		"dealt out":      {"-launcher", "fork", "-hosts", "n1,n2", "-ppn", "1", "-n", "4"},
		"four hosts":     {"-launcher", "fork", "-hosts", "n1,n2,n3,n4", "-ppn", "1", "-n", "4"},
		"bound to cores": {"-bind-to", "core", "-n", "2"},
		"one process":    {"-n", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := outcome(t, hydra(t, append(flags, self("ring")...)...), time.Minute)
			n := flags[len(flags)-1]
			for rank := range int(n[0] - '0') {
				if want := fmt.Sprintf("rank %d of %s\n", rank, n); !strings.Contains(text, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if status != 0 || t.Failed() {
				t.Errorf("status %d: %s", status, text)
			}
		})
	}
}

// TestNested: our launcher below hydra makes jobs of its own; a job of ours is not taken for hydra's.
func TestNested(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command")
	}
	t.Parallel()
	demo := build(t, "../../cmd/demo")
	status, text := outcome(t, hydra(t, append([]string{"-n", "2", demo, "run", "-n", "3", "--"}, self("ring")...)...), time.Minute)
	if n := strings.Count(text, " of 3\n"); status != 0 || n != 6 {
		t.Errorf("status %d: %s", status, text)
	}
}

// programs holds what build has built. TestMain removes the folder.
var programs struct {
	sync.Mutex
	folder string
	paths  map[string]string // by the arguments of the go command
}

// build builds a program of this repository, without what a debugger needs. Tests that ask for the same one share it.
func build(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	args := append([]string{"build", "-ldflags=-s -w"}, flags...)
	if slices.Contains(flags, "-c") {
		args[0] = "test"
	}
	args = append(args, dir)
	p := &programs
	p.Lock()
	defer p.Unlock()
	what := strings.Join(args, " ")
	if path, ok := p.paths[what]; ok {
		return path
	}
	if p.folder == "" {
		folder, err := os.MkdirTemp("", "managers")
		if err != nil {
			t.Fatal(err)
		}
		p.folder, p.paths = folder, map[string]string{}
	}
	path := filepath.Join(p.folder, fmt.Sprint("program", len(p.paths)))
	if out, err := exec.Command("go", slices.Insert(args, 1, "-o", path)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", what, err, out)
	}
	p.paths[what] = path
	return path
}

// TestSuites: what the tests of nmad have whole jobs do, as jobs of hydra.
func TestSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("whole suites")
	}
	t.Parallel() // most of it is waiting for launchers
	hydra(t)     // skip before building
	nmad := build(t, "../../nmad", "-c")
	demo := build(t, "../../cmd/demo")
	hosts := []string{"-launcher", "fork", "-hosts", "n1,n2", "-ppn", "2", "-n", "4"}
	for _, c := range []struct {
		name  string
		flags []string
		env   string
		words []string
	}{
		{"mixed", []string{"-n", "3"}, "NMAD_TEST=goroutine-explicit mixed 4 15", []string{nmad}},
		{"mixed with hooks", hosts, "NMAD_TEST=thread-default mixed 2 10", []string{nmad}},
		{"agree", []string{"-n", "5"}, "NMAD_TEST=goroutine-explicit agree 50", []string{nmad}},
		{"ping-pong", []string{"-n", "4"}, "", []string{demo, "pingpong", "--sizes", "1,64K", "--iters", "200"}},
		{"E21", []string{"-n", "4"}, "", []string{demo, "experiment", "E21", "--peers", "none", "--iters", "256", "--rounds", "1"}},
		{"explain-protocol", []string{"-n", "2"}, "", []string{demo, "explain-protocol"}}, // two sessions within each
		{"explain-start", []string{"-n", "4"}, "", []string{demo, "explain-start"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := hydra(t, append(c.flags, c.words...)...)
			job.Env = append(os.Environ(), c.env)
			if status, text := outcome(t, job, 3*time.Minute); status != 0 {
				t.Errorf("status %d: %s", status, text)
			}
		})
	}
}

// job is one under way, whose processes have said their pids.
type job struct {
	c    *exec.Cmd
	text *output
	pids []int // of the ranks, in the order in which they came
}

// output collects what a job says.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// begin starts a job of n processes and waits until all have said their pids.
func begin(t *testing.T, c *exec.Cmd, n int) *job {
	t.Helper()
	j := &job{c: c, text: &output{}}
	c.Stdout, c.Stderr = j.text, j.text
	c.WaitDelay = endLimit
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range j.pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		j.pids = make([]int, n)
		found := 0
		for l := range strings.Lines(j.text.String()) {
			var pid, rank int
			if k, _ := fmt.Sscanf(l, "pid %d rank %d\n", &pid, &rank); k == 2 && rank < n {
				j.pids[rank] = pid
				found++
			}
		}
		if found == n {
			return j
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d ranks came up: %s", found, n, j.text)
		}
	}
}

// ended waits for the end of the job and of all its processes, which must come in time, and returns the status.
func (j *job) ended(t *testing.T) int {
	t.Helper()
	began := time.Now()
	over := make(chan struct{})
	go func() { _ = j.c.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(4 * endLimit):
		t.Fatalf("the manager has not ended: %s", j.text)
	}
	for _, pid := range j.pids {
		for alive(pid) {
			if time.Since(began) > 4*endLimit {
				t.Fatalf("process %d outlives its job: %s", pid, j.text)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	if d := time.Since(began); d > endLimit {
		t.Logf("it took %v to end", d)
	} else {
		t.Logf("all over after %v", d)
	}
	return j.c.ProcessState.ExitCode()
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := strings.TrimSpace(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// TestEnds: however a job of hydra comes to its end, all of it ends, in time. hydra makes one status of those of the
// ranks and of those that it kills, and may lose what they say last.
func TestEnds(t *testing.T) {
	parent := func(pid int) int {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		var ppid int
		var state string
		_, _ = fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &ppid)
		return ppid
	}
	for _, c := range []struct {
		name   string
		action []string
		act    func(j *job)
		status int    // -1: any
		says   string // somewhere in what is said, unless hydra killed the others first, of which it tells
	}{
		{"a rank exits", []string{"doomed", "exit", "2", "7"}, nil, -1, "rank 2: peer lost"},
		{"a rank aborts", []string{"doomed", "abort", "1", "9"}, nil, 9, ""},
		{"a rank is killed", []string{"doomed", "kill", "3"}, nil, -1, "rank 3: peer lost"},
		{"the manager gets SIGTERM", []string{"doomed", "wait", "0"}, func(j *job) { _ = j.c.Process.Signal(syscall.SIGTERM) }, -1, ""},
		{"the manager is killed", []string{"doomed", "wait", "0"}, func(j *job) { _ = j.c.Process.Kill() }, -1, ""},
		{"its proxy is killed", []string{"doomed", "wait", "0"}, func(j *job) { _ = syscall.Kill(parent(j.pids[1]), syscall.SIGKILL) }, -1, ""},
		{"its proxy is killed while all compute", []string{"loop"}, func(j *job) { _ = syscall.Kill(parent(j.pids[1]), syscall.SIGKILL) }, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := false
			for try := 0; try < 5 && !told; try++ { // hydra may kill the others before they speak, and end without its account
				before := orphans.Files()
				j := begin(t, hydra(t, append([]string{"-n", "4"}, self(c.action...)...)...), 4)
				if c.act != nil {
					c.act(j)
				}
				status := j.ended(t)
				if c.status >= 0 && status != c.status {
					t.Errorf("status %d, want %d: %s", status, c.status, j.text)
				}
				text := j.text.String()
				if told = strings.Contains(text, c.says) || strings.Contains(text, "BAD TERMINATION"); !told {
					t.Logf("neither %q nor hydra's own account is there: %s", c.says, text)
				}
				if after := orphans.Files(); !slices.Equal(before, after) {
					t.Errorf("/dev/shm had %v, and has %v", before, after)
				}
			}
			if !told {
				t.Error("five times it was not said how the job ended")
			}
		})
	}
}

// TestOrphan: a process whose manager has gone says so and ends, though it computes and asks nothing of it. (What a
// rank of hydra says then goes to the proxy, which is no more.)
func TestOrphan(t *testing.T) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	manager, theirs := os.NewFile(uintptr(ends[0]), "manager"), os.NewFile(uintptr(ends[1]), "child's")
	defer manager.Close()
	c := exec.Command(os.Args[0], "loop")
	c.ExtraFiles = []*os.File{theirs}
	c.Env = append(os.Environ(), "PMI_FD=3", "PMI_RANK=0", "PMI_SIZE=1")
	go func() {
		for lines := bufio.NewScanner(manager); lines.Scan(); {
			answers := map[string]string{
				"cmd=init": "response_to_init rc=0", "cmd=get_maxes": "maxes kvsname_max=64 keylen_max=64 vallen_max=512",
				"cmd=get_my_kvsname": "my_kvsname kvsname=k", "cmd=get": "get_result rc=-1",
			}
			command, _, _ := strings.Cut(lines.Text(), " ")
			fmt.Fprintf(manager, "cmd=%s\n", answers[command])
		}
	}()
	j := begin(t, c, 1)
	theirs.Close()
	if err := syscall.Shutdown(ends[0], syscall.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	j.ended(t)
	if want := "rank 0: the process manager has gone"; !strings.Contains(j.text.String(), want) {
		t.Errorf("%q is missing: %s", want, j.text)
	}
}
