package launch

import (
	"crypto/rand"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/pm2-go/pm2/nmad"
)

// TestWatch: at the end of its input a guard kills the groups that it was told of and not told off
// again, and the one that bears the mark; no other one.
func TestWatch(t *testing.T) {
	mark := rand.Text()
	start := func(env ...string) *exec.Cmd {
		c := exec.Command("sleep", "3600")
		c.Env = env
		c.SysProcAttr = attributes()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	kept, dropped := start(), start()
	marked, stranger := start("A=b", nmad.EnvLauncher+"="+mark), start(nmad.EnvLauncher+"="+mark+"0", "A="+nmad.EnvLauncher+"="+mark)
	runGuard(strings.NewReader(fmt.Sprintf("%s\n+%d\n+%d\nnonsense\n+0\n+1\n-1\n-%d\n", mark, kept.Process.Pid, dropped.Process.Pid, dropped.Process.Pid)))
	for _, c := range []*exec.Cmd{kept, marked} {
		_ = c.Wait() // the state says it
		if ws := c.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
			t.Errorf("it ended with %v, want that it was killed", c.ProcessState)
		}
	}
	for _, c := range []*exec.Cmd{dropped, stranger} {
		if !alive(c.Process.Pid) {
			t.Error("a process that is none of the job's was killed")
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// TestWatchWithoutMark: a guard whose launcher ended before it said anything kills none.
func TestWatchWithoutMark(t *testing.T) {
	runGuard(strings.NewReader(""))
}

// TestGuardKilled: a job whose guard is gone ends as it should.
func TestGuardKilled(t *testing.T) {
	j, err := Start(Spec{N: 2, Guard: true, Env: []string{modeVariable + "=sleep"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.guard.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	j.Kill()
	if err := j.Wait(); err == nil || !strings.Contains(err.Error(), "signal 9") {
		t.Errorf("the job ended with %v", err)
	}
	gone(t, j.PID(0), j.PID(1))
}

// TestMark: the children bear it, and it replaces that of our own launcher; without a guard they
// bear the old one. A remote shell bears none.
func TestMark(t *testing.T) {
	t.Setenv(nmad.EnvLauncher, "old")
	s := Spec{N: 1}
	for mark, want := range map[string]string{"": "old", "new": "new"} {
		env := strings.Join(s.environment(map[string]string{nmad.EnvLauncher: mark}, &Program{}), "\n") + "\n"
		if n := strings.Count(env, nmad.EnvLauncher+"="); n != 1 || !strings.Contains(env, nmad.EnvLauncher+"="+want+"\n") {
			t.Errorf("with the mark %q: %d marks, want one, %q", mark, n, want)
		}
	}
	if env := strings.Join(s.environment(nil, nil), "\n"); strings.Contains(env, nmad.EnvLauncher+"=") {
		t.Error("a remote shell bears a mark")
	}
}
