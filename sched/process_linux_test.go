package sched_test

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// cpusOf finds the CPU list in a /proc status file.
func cpusOf(status []byte) string {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "?"
}

// TestChildMask: a child of a thread may run where the process may.
func TestChildMask(t *testing.T) {
	var out bytes.Buffer
	status := func() *exec.Cmd {
		cmd := exec.Command("cat", "/proc/self/status")
		out.Reset()
		cmd.Stdout = &out
		return cmd
	}
	if err := marcel.RunProcess(status()); err != nil { // from a goroutine
		t.Fatal(err)
	}
	want := cpusOf(out.Bytes())
	s := start(t, sched.Config{VPs: 1})
	marcel.RunOn(s, func() {
		for range 5 {
			for _, sig := range []syscall.Signal{0, syscall.SIGKILL} {
				cmd := status()
				cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: sig}
				if err := marcel.RunProcess(cmd); err != nil {
					t.Fatal(err)
				}
				if got := cpusOf(out.Bytes()); got != want || got == "?" {
					t.Errorf("the child may use CPUs %s, the process %s", got, want)
				}
			}
		}
		if err := marcel.StartProcess(nil); err == nil {
			t.Error("nothing could be started")
		}
		if err := marcel.RunProcess(exec.Command("/no/such/program")); err == nil {
			t.Error("a program that does not exist has run")
		}
	})
}

// TestChildOutlivesLWPs: a parent death signal does not come when the scheduler
// of the thread that started the child ends, and with it all its OS threads.
func TestChildOutlivesLWPs(t *testing.T) {
	s := start(t, sched.Config{VPs: 1})
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	marcel.RunOn(s, func() {
		if err := marcel.StartProcess(cmd); err != nil {
			t.Fatal(err)
		}
	})
	stop(t, s)
	time.Sleep(20 * time.Millisecond) // for a signal to arrive
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); err != nil || info.Signo != 0 {
		t.Errorf("the child has ended with the scheduler (%v)", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
