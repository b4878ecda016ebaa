package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/launch"
)

func TestMain(m *testing.M) {
	effort.Together(8) // most of it is waiting for processes
	testscript.Main(m, map[string]func(){"mpiexec": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			host, err := os.Hostname()
			env.Setenv("HOST", host)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return err
		},
	})
}

// TestSpread: how many processes each host takes.
func TestSpread(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"-hosts a,b -n 4 p", "[{a 2} {b 2}]"},
		{"-hosts a,b -n 5 p", "[{a 3} {b 2}]"},
		{"-hosts a:2,b -n 4 p", "[{a 3} {b 1}]"},
		{"-hosts a,b -ppn 4 -n 9 p", "[{a 5} {b 4}]"},
		{"-hosts a:3,b -n 4 p", "[{a 3} {b 1}]"},
		{"-hosts a,a,a,b -n 4 p", "[{a 3} {b 1}]"},
		{"-hosts a,b,a -n 6 p", "[{a 4} {b 2}]"},
		{"-f testdata/hosts -n 5 p", "[{a 4} {b 1}]"},
		{"-f testdata/hosts -ppn 3 -n 5 p", "[{a 3} {b 2}]"},
		{"-hosts a,b -ppn 1 -n 4 p", "[{a 2} {b 2}]"},
		{"-hosts a,b,c -ppn 2 -n 4 p", "[{a 2} {b 2}]"},
		{"-host a -n 1 p : -n 2 q", "[{a 3}]"},
	} {
		o, err := parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
		} else if got := fmt.Sprint(o.spread()); got != c.want {
			t.Errorf("%s: %s, want %s", c.line, got, c.want)
		}
	}
}

// TestEmptyName: a program without a name is none.
func TestEmptyName(t *testing.T) {
	for _, args := range [][]string{{"-n", "4", "", "./x"}, {"./a", ":", ""}, {"--", ""}} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), "empty name") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestTimeoutUnread: the time is up also for a job whose output is not read.
func TestTimeoutUnread(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("mpiexec")
	if err != nil {
		t.Fatal(err)
	}
	for _, errs := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(path, "-timeout", "0.2", "-n", "2", "yes")
		if c.Stdout = w; errs {
			c.Stderr = w
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		watchdog := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
		if err := c.Wait(); c.ProcessState.ExitCode() != statusTimeout {
			t.Errorf("the errors unread, too: %v: mpiexec ends with %v, want status %d", errs, err, statusTimeout)
		}
		watchdog.Stop()
		r.Close()
	}
}

// TestRemoteCommand: the launcher on another host understands what this one asks it for, as the same job.
func TestRemoteCommand(t *testing.T) {
	t.Setenv("PM2_EAGER", "77")
	t.Setenv("KEPT", "k k")
	o, err := parse([]string{"-hosts", "a,b", "-l", "-bind-to", "none", "-grace", "2", "-genv", "X", "1 2", "-genvlist", "KEPT,GONE", "-n", "1", "-env", "Y=z", "p", "-n", ":",
		"-n", "3", "-wdir", "/", "-envnone", "q", "a b"})
	if err != nil {
		t.Fatal(err)
	}
	words := o.command(launch.Remote{Host: "b", N: 4, First: 2, Count: 2, Rendezvous: "10.0.0.1:7", Listen: "10.0.0.2:0"})
	there, err := parse(words[1:])
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	s, err := there.spec()
	if err != nil {
		t.Fatal(err)
	}
	if !s.Elsewhere || s.First != 2 || s.Count != 2 || s.N != 4 || s.Rendezvous != "10.0.0.1:7" || s.Listen != "10.0.0.2:0" || !s.Unbound || s.Grace != 2*time.Second || !there.label || s.PMI {
		t.Errorf("%q is %+v", words, s)
	}
	for _, v := range []string{"X=1 2", "KEPT=k k", "PM2_EAGER=77"} {
		if !slices.Contains(s.Env, v) {
			t.Errorf("%s is missing in %q", v, s.Env)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	p, q := s.Programs[0], s.Programs[1]
	if p.Path != "p" || p.N != 1 || !slices.Equal(p.Args, []string{"-n"}) || !slices.Equal(p.Env, []string{"Y=z"}) || p.Dir != dir || !p.Inherit("KEPT") || p.Inherit("HOME") || !p.Inherit("PM2_EAGER") {
		t.Errorf("the first program is %+v", p)
	}
	if q.Path != "q" || q.N != 3 || !slices.Equal(q.Args, []string{"a b"}) || q.Dir != "/" || q.Inherit("KEPT") {
		t.Errorf("the second program is %+v", q)
	}
}

// TestKilled: when mpiexec is killed its processes go, too.
func TestKilled(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("mpiexec")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "-n", "2", "sh", "-c", "echo $$; exec sleep 3600")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pids := make([]int, 2)
	for i := range pids {
		if _, err := fmt.Fscan(out, &pids[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	for _, pid := range pids {
		for end := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d lives on", pid)
			}
		}
	}
}
