package main

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/terminal"
)

// TestTerminal: mpiexec that is stopped at its terminal and continued in the background runs on, though it has waited
// for input, and leaves the input alone; what is typed while it is in the foreground goes to rank 0.
func TestTerminal(t *testing.T) {
	t.Parallel()
	master, slave, err := terminal.Open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer master.Close()
	const job = `mpiexec -n 2 sh -c "test \$PMI_RANK = 0 || exit 0; echo up; read a; echo got \$a; while ! test -e go; do sleep .05; done; echo end"`
	c := exec.Command("sh", "-c", "set -m; "+job+"; echo stopped; bg >&2; sleep .2; echo typed; sleep .3; jobs >&2; touch go; wait; echo over; read line; echo left $line")
	c.Dir = t.TempDir()
	c.Stdin = slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	watchdog := time.AfterFunc(20*time.Second, func() { master.Close() }) // ends them
	defer watchdog.Stop()
	var got []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		got = append(got, lines.Text())
		typed := map[string]string{"up": "one\n", "got one": "\x1a", "typed": "two\n"}[lines.Text()]
		if _, err := master.WriteString(typed); err != nil {
			t.Fatal(err)
		}
	}
	err = c.Wait()
	if want := "up, got one, stopped, typed, end, over, left two"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("it says %q and %q, and ends with %v; want %s", got, errs.String(), err, want)
	}
}

// TestTerminalLeft: once rank 0 has ended nothing is read from the terminal.
func TestTerminalLeft(t *testing.T) {
	t.Parallel()
	master, slave, err := terminal.Open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer master.Close()
	const job = `mpiexec -n 2 sh -c "test \$PMI_RANK = 0 && exit 0; sleep .5; echo typed; sleep .3"`
	c := exec.Command("sh", "-c", job+"; read line; echo left $line")
	c.Stdin = slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	watchdog := time.AfterFunc(20*time.Second, func() { master.Close() })
	defer watchdog.Stop()
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last = lines.Text(); last == "typed" {
			if _, err := master.WriteString("line\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Wait(); err != nil || last != "left line" {
		t.Errorf("it says %q at last, and ends with %v", last, err)
	}
}
