package view_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/marcel/view"
	"github.com/pm2-go/pm2/nmad"
)

// plain is the variable by which a test starts this binary as a program that knows nothing of this package, and what that
// does.
const plain = "VIEW_TEST_PLAIN"

func TestMain(m *testing.M) {
	work := func() {
		if err := marcel.SpawnWith(marcel.Attr{Name: "observed thread"}, marcel.Yield).Join(); err != nil {
			panic(err)
		}
	}
	switch os.Getenv(plain) {
	case "":
		os.Exit(m.Run())
	case "run":
		marcel.Run(work)
	case "wait": // until the test has looked
		marcel.Run(work)
		fmt.Println("running")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "session":
		s, err := nmad.Join(context.Background())
		if err != nil {
			panic(err)
		}
		work()
		if err := s.Close(); err != nil {
			panic(err)
		}
	}
}

// program is the plain program, with so much in its environment.
func program(t *testing.T, does string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, plain+"="+does)...)
	cmd.Dir = t.TempDir()
	return cmd
}

// shown checks that the timeline has the thread.
func shown(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "observed thread") {
		t.Errorf("the timeline does not have the thread:\n%s", text)
	}
	line, err := timeline.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := line.Check(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(path + ".*"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestPlainTrace: a program that does nothing for it leaves a timeline; a process of a job leaves it at its number.
func TestPlainTrace(t *testing.T) {
	for _, c := range []struct {
		does, file string
		env        []string
	}{
		{"run", "t.json", nil},
		{"session", "t.json", nil},
		{"run", "t.json.3", []string{"PMI_RANK=3"}},
	} {
		cmd := program(t, c.does, append(c.env, view.Trace+"=t.json")...)
		if output, err := cmd.CombinedOutput(); err != nil || len(output) != 0 {
			t.Errorf("%s: %v, %s", c.does, err, output)
		}
		shown(t, filepath.Join(cmd.Dir, c.file))
	}
}

// TestLink: a link to the file stays one.
func TestLink(t *testing.T) {
	cmd := program(t, "run", view.Trace+"=link")
	link := filepath.Join(cmd.Dir, "link")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if output, err := cmd.CombinedOutput(); err != nil || len(output) != 0 {
		t.Fatalf("%v, %s", err, output)
	}
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link: %q, %v", to, err)
	}
	shown(t, filepath.Join(cmd.Dir, "file"))
}

// TestPlainStats: a program that does nothing for it can be looked at while it runs.
func TestPlainStats(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	cmd := program(t, "wait", monitor.Environment+"="+socket)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, readErr := io.ReadFull(out, make([]byte, len("running\n")))
	c, err := monitor.Attach(socket)
	if err == nil {
		s, err := c.Stats()
		if err != nil || s.Total.Spawned < 2 {
			t.Errorf("%d threads have been spawned, %v", s.Total.Spawned, err)
		}
		c.Close()
	}
	in.Close()
	if end := cmd.Wait(); readErr != nil || err != nil || end != nil {
		t.Fatal(readErr, err, end)
	}
}

// TestPlainRefused: what cannot be had is one line, what can be is there, and the program goes on.
func TestPlainRefused(t *testing.T) {
	cmd := program(t, "run", view.Trace+"=t.json", monitor.Environment+"=none/s")
	output, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(output), "\n") != 1 || !strings.HasPrefix(string(output), "pm2: PM2_STATS=none/s: ") {
		t.Errorf("%v, %q", err, output)
	}
	shown(t, filepath.Join(cmd.Dir, "t.json"))
	cmd = program(t, "run", view.Trace+"=none/t.json")
	output, err = cmd.CombinedOutput()
	if want := "pm2: PM2_TRACE=none/t.json: no such file or directory: the program goes on without\n"; err != nil || string(output) != want {
		t.Errorf("%v, %q", err, output)
	}
}

// TestNothing: without the variables nothing is started.
func TestNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Setenv(view.Trace, "")
	t.Setenv(monitor.Environment, "")
	o, err := view.FromEnvironment()
	if err != nil || !o.Idle() {
		t.Fatalf("%+v, %v", o, err)
	}
	if err := o.End(); err != nil {
		t.Error(err)
	}
	if err := (*view.Observation)(nil).End(); err != nil {
		t.Error(err)
	}
}

// TestAsked: a program that asks has the timeline up to the end, and the socket as long.
func TestAsked(t *testing.T) {
	marcel.Run(func() {}) // now the default scheduler runs, so the trace begins at once
	// What the default scheduler starts meanwhile stays with it: a runner waits for the next thread, a spare LWP for a VP
	// whose thread blocks in a system call.
	runner, spare := goleak.IgnoreAnyFunction("github.com/pm2-go/pm2/sched.(*co).live"), goleak.IgnoreAnyFunction("github.com/pm2-go/pm2/sched.(*lwp).live")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), runner, spare)
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	t.Setenv(view.Trace, filepath.Join(dir, "t.json"))
	t.Setenv(monitor.Environment, socket)
	t.Setenv("PM2_RANK", "2")
	o, err := view.FromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := view.FromEnvironment(); again != o || err != nil {
		t.Errorf("asked again: %p instead of %p, %v", again, o, err)
	}
	client, err := monitor.Attach(socket)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	view.Save() // by which nothing ends
	if err := marcel.SpawnWith(marcel.Attr{Name: "observed thread"}, func() { marcel.Yield() }).Join(); err != nil {
		t.Fatal(err)
	}
	if err := o.End(); err != nil {
		t.Fatal(err)
	}
	if err := o.End(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	shown(t, filepath.Join(dir, "t.json.2"))
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is left")
	}
}

// TestRefused: a program that asks is told at once of a file that cannot be written.
func TestRefused(t *testing.T) {
	t.Setenv(view.Trace, filepath.Join(t.TempDir(), "none", "t.json"))
	t.Setenv(monitor.Environment, "")
	if _, err := view.FromEnvironment(); err == nil || !strings.Contains(err.Error(), view.Trace) {
		t.Errorf("%v", err)
	}
}
