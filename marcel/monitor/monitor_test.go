package monitor_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/sched"
)

func start(t *testing.T) *sched.Scheduler {
	t.Helper()
	s, err := sched.New(sched.Config{VPs: 2, Unbound: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestAttach(t *testing.T) {
	s := start(t)
	path := filepath.Join(t.TempDir(), "x.sock")
	if _, err := monitor.Attach(path); err == nil || !strings.Contains(err.Error(), monitor.Environment) {
		t.Errorf("no process serves: %v", err)
	}
	v, err := monitor.Serve(path, s)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("beside the socket it left something: %v", entries)
	}
	if _, err := monitor.Serve(path, s); err == nil || !strings.Contains(err.Error(), "listens") {
		t.Errorf("a second server: %v", err)
	}
	marcel.RunOn(s, func() { marcel.Spawn(func() {}).Join() })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c, err := monitor.Attach(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			var before sched.Stats
			for range 20 {
				st, err := c.Stats()
				if err != nil || len(st.VPs) != 2 || st.Total.Switches < 2 {
					t.Errorf("%+v, %v", st, err)
					return
				}
				if st.Elapsed < before.Elapsed {
					t.Error("time runs backwards")
				}
				before = st
			}
		})
	}
	all.Wait()
	c, err := monitor.Attach(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if err := v.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	if _, err := c.Stats(); err == nil {
		t.Error("a server that has closed answers")
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// TestThreads: what a process's threads wait for, seen from outside, as many as fit.
func TestThreads(t *testing.T) {
	s := start(t)
	path := filepath.Join(t.TempDir(), "x.sock")
	v, err := monitor.Serve(path, s)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	c, err := monitor.Attach(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if l, err := c.Threads(); err != nil || l.Alive != 0 || len(l.Threads) != 0 {
		t.Errorf("no thread lives: %+v, %v", l, err)
	}
	const crowd = 1200 // more than a list has room for
	var permit marcel.Semaphore
	var all []marcel.Thread
	for i := range crowd {
		all = append(all, s.Spawn(sched.Attr{Name: fmt.Sprint("guest ", i)}, permit.Acquire))
	}
	waiting := func(l sched.Stats) (n int) {
		for _, w := range l.Threads {
			if w.State == sched.StateBlocked && w.In == sched.InSemaphore && strings.HasPrefix(w.Name, "guest ") {
				n++
			}
		}
		return n
	}
	for {
		l, err := c.Threads()
		if err != nil {
			t.Fatal(err)
		}
		if l.Alive == crowd && waiting(l) == 1000 {
			break
		}
	}
	if st, err := c.Stats(); err != nil || st.Alive != crowd {
		t.Errorf("counters after a list: %d alive, %v", st.Alive, err)
	}
	for range all {
		permit.Release()
	}
	for _, x := range all {
		if err := x.Join(); err != nil {
			t.Error(err)
		}
	}
}

// leave leaves a socket at path as a process does that is killed.
func leave(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

// TestAttachToTheDead: the client removes the socket of a process that has ended, and nothing else.
func TestAttachToTheDead(t *testing.T) {
	dead := filepath.Join(t.TempDir(), "dead.sock")
	leave(t, dead)
	if _, err := monitor.Attach(dead); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Error(err)
	}
	if _, err := os.Lstat(dead); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := monitor.Attach(file); err == nil {
		t.Error("attached to a file")
	}
	if _, err := os.Lstat(file); err != nil {
		t.Error(err)
	}
}

// A program that was killed left its socket; a file that is none is left alone.
func TestServeReplacesOnlyDeadSockets(t *testing.T) {
	s := start(t)
	dir := t.TempDir()
	dead := filepath.Join(dir, "dead.sock")
	leave(t, dead)
	v, err := monitor.Serve(dead, s)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := monitor.Serve(file, s); err == nil {
		t.Error("a file was taken for a socket")
	}
	if text, _ := os.ReadFile(file); string(text) != "precious" {
		t.Error("the file is gone")
	}
	if _, err := monitor.Serve(filepath.Join(dir, strings.Repeat("x", 200)), s); err == nil {
		t.Error("a path that is too long was accepted")
	}
	if _, err := monitor.Serve(filepath.Join(dir, "nowhere", "x"), s); err == nil {
		t.Error("a folder that does not exist was accepted")
	}
}

// The socket that another server has put there meanwhile is not removed.
func TestCloseRemovesItsOwn(t *testing.T) {
	s := start(t)
	path := filepath.Join(t.TempDir(), "x.sock")
	v, err := monitor.Serve(path, s)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	w, err := monitor.Serve(path, s)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	c, err := monitor.Attach(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestNoScheduler: where no scheduler runs the counters are of none.
func TestNoScheduler(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sock")
	v, err := monitor.Serve(path, nil)
	if err != nil || v.Path() != path {
		t.Fatalf("%v", err)
	}
	defer v.Close()
	c, err := monitor.Attach(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if st, err := c.Stats(); err != nil || len(st.VPs) != 0 {
		t.Errorf("no scheduler runs: %+v, %v", st, err)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func ExampleServe() {
	dir, err := os.MkdirTemp("", "monitor-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	server, err := monitor.Serve(filepath.Join(dir, "stats.sock"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, err := monitor.Attach(server.Path()) // another process, as a rule
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	st, err := client.Stats()
	fmt.Println(len(st.VPs), "VPs before the scheduler starts", err)
	// Output: 0 VPs before the scheduler starts <nil>
}
