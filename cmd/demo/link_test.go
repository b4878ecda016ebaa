package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/veth"
)

// TestLinkInterrupted: a Ctrl-C ends an experiment between two hosts with status 130, and what it
// has started; a kill of the first process too. The hosts have no names that could stay.
func TestLinkInterrupted(t *testing.T) {
	if err := veth.Missing(); err != nil {
		t.Skip(err)
	}
	path, err := exec.LookPath("demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		c := exec.Command(path, "experiment", "E18", "--rounds", "1000", "--peers", "none")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = c.Wait() // the state says it
			close(ended)
		}()
		var started []int
		for end := time.Now().Add(hang); len(started) < 2; time.Sleep(5 * time.Millisecond) {
			if started = descendants(t, c.Process.Pid); time.Now().After(end) {
				_ = c.Process.Kill()
				t.Fatalf("only %v were started", started)
			}
		}
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
		case <-time.After(hang):
			_ = c.Process.Kill()
			t.Fatalf("it did not end within %v", hang)
		}
		if got := c.ProcessState.ExitCode(); signal == syscall.SIGINT && got != 130 {
			t.Errorf("exit status %d, want 130", got)
		}
		for _, pid := range started {
			awaitGone(t, pid)
		}
	}
}

// descendants lists the children of a process, and theirs.
func descendants(t *testing.T, pid int) (all []int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tasks {
		text, _ := os.ReadFile(name) // the thread may have ended
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			all = append(append(all, child), descendants(t, child)...)
		}
	}
	return all
}
