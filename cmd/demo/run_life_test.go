package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/terminal"
)

// family is a job of two shells, each of which has started one process in its group and one
// that has left it, and of which none ends by a signal that can be caught.
type family struct {
	*exec.Cmd
	ended    chan struct{}
	errs     bytes.Buffer // of the launcher; complete when ended
	launcher int
	ranks    [2]int
	pids     []int         // all processes of the job
	signals  chan struct{} // one for each signal that a rank has got
}

const familyScript = `trap 'echo $PM2_RANK caught 0' INT TERM HUP
(trap "" INT TERM HUP; exec sleep 3600) & echo $PM2_RANK child $!
setsid sh -c 'trap "" INT TERM HUP; echo $PM2_RANK child $$; exec sleep 3600' &
echo $PM2_RANK pid $$
while :; do wait; done`

// startFamily starts one and returns when all its processes are there. arrange is called
// before the start.
func startFamily(t *testing.T, arrange func(*exec.Cmd), flags ...string) *family {
	t.Helper()
	path, err := exec.LookPath("demo")
	if err != nil {
		t.Fatal(err)
	}
	// What is ignored here (nohup, a shell's background) would be ignored there: what is caught is not.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	defer signal.Stop(heard)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f := &family{ended: make(chan struct{}), signals: make(chan struct{}, 16)}
	words := append([]string{"run", "-n", "2", "--plain"}, flags...)
	f.Cmd = exec.Command(path, append(words, "--", "sh", "-c", familyScript)...)
	f.Stdout, f.Stderr = w, &f.errs
	if arrange != nil {
		arrange(f.Cmd)
	}
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	f.launcher = f.Process.Pid
	go func() {
		_ = f.Wait() // the state says it
		close(f.ended)
	}()
	t.Cleanup(func() {
		for _, pid := range append([]int{f.launcher}, f.pids...) {
			if t.Failed() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		<-f.ended
		r.Close()
	})
	lines := bufio.NewReader(r)
	for range 6 {
		var rank, pid int
		var what string
		if _, err := fmt.Fscanf(lines, "%d %s %d\n", &rank, &what, &pid); err != nil {
			t.Fatalf("the job did not come up: %v", err)
		}
		f.pids = append(f.pids, pid)
		if what == "pid" {
			f.ranks[rank] = pid
		}
	}
	go func() {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if strings.Contains(line, " caught ") {
				f.signals <- struct{}{}
			}
		}
	}()
	return f
}

// signalTo sends one to a process that is there.
func signalTo(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// gone waits until the launcher has ended and no process of the job is left.
func (f *family) gone(t *testing.T) {
	t.Helper()
	select {
	case <-f.ended:
	case <-time.After(3 * hang):
		t.Fatalf("the launcher did not end within %v", 3*hang)
	}
	for _, pid := range f.pids {
		awaitGone(t, pid)
	}
}

// says checks the launcher's last words and how it ended: -1 for a signal.
func (f *family) says(t *testing.T, status int, by syscall.Signal, pattern string) {
	t.Helper()
	state := f.ProcessState.Sys().(syscall.WaitStatus)
	if f.ProcessState.ExitCode() != status || state.Signaled() && state.Signal() != by {
		t.Errorf("it ended with %v, want status %d, signal %d", f.ProcessState, status, by)
	}
	if text := f.errs.String(); !regexp.MustCompile(`^demo: ` + pattern + "\n$").MatchString(text) {
		t.Errorf("it says %q, want %q", text, pattern)
	}
}

// TestRunInterruptedTwice: the first signal asks, the second one kills; the launcher says so and dies of it.
func TestRunInterruptedTwice(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		f := startFamily(t, nil, "--grace", "1h")
		signalTo(t, f.launcher, s)
		f.caught(t)
		signalTo(t, f.launcher, s)
		f.gone(t)
		f.says(t, -1, s, `interrupted once more \(`+unix.SignalName(s)+`\), all processes killed`)
	}
}

// caught waits until both ranks have got a signal, so that the next one is another one.
func (f *family) caught(t *testing.T) {
	t.Helper()
	for range f.ranks {
		select {
		case <-f.signals:
		case <-time.After(hang):
			t.Fatal("the signal does not reach the ranks")
		}
	}
}

// TestRunInterrupted: one that heeds no signal is killed after the grace period.
func TestRunInterrupted(t *testing.T) {
	f := startFamily(t, nil, "--grace", "100ms")
	signalTo(t, f.launcher, syscall.SIGTERM)
	f.gone(t)
	f.says(t, -1, syscall.SIGTERM, `interrupted \(SIGTERM\)`)
}

// TestRunLauncherKilled: nothing that the ranks have started outlives a launcher that is killed.
func TestRunLauncherKilled(t *testing.T) {
	f := startFamily(t, nil)
	signalTo(t, f.launcher, syscall.SIGKILL)
	f.gone(t)
}

// TestRunRankKilled: the rank is named, its status is ours, and nothing is left.
func TestRunRankKilled(t *testing.T) {
	f := startFamily(t, nil, "--grace", "50ms")
	signalTo(t, f.ranks[1], syscall.SIGKILL)
	f.gone(t)
	f.says(t, 137, 0, fmt.Sprintf(`rank 1 \(pid %d\) was killed by signal 9 \(killed\)`, f.ranks[1]))
}

// TestRunTerminalClosed: the kernel sends SIGHUP to the launcher when its terminal goes away.
func TestRunTerminalClosed(t *testing.T) {
	master, slave, err := terminal.Open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	f := startFamily(t, func(c *exec.Cmd) {
		c.Stdin = slave
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, "--grace", "50ms")
	slave.Close()
	master.Close()
	f.gone(t)
	f.says(t, -1, syscall.SIGHUP, `interrupted \(SIGHUP\)`)
}

// TestRunTerminalInterrupts: a Ctrl-C at a terminal, twice.
func TestRunTerminalInterrupts(t *testing.T) {
	master, slave, err := terminal.Open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer master.Close()
	f := startFamily(t, func(c *exec.Cmd) {
		c.Stdin = slave
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, "--grace", "1h")
	slave.Close()
	for i := range 2 {
		if _, err := master.Write([]byte{3}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			f.caught(t)
		}
	}
	f.gone(t)
	f.says(t, -1, syscall.SIGINT, `interrupted once more \(SIGINT\), all processes killed`)
}
