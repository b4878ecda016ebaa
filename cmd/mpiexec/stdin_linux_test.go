package main

import (
	"bufio"
	"os"
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
	const job = `mpiexec -n 2 sh -c "test \$PMI_RANK = 0 || exit 0; echo up; read a; echo got \$a; while ! test -e go; do sleep .05; done; echo end"`
	c := exec.Command("sh", "-c", "set -m; "+job+"; echo stopped; bg >&2; sleep .2; echo typed; sleep .3; jobs >&2; touch go; wait; echo over; read line; echo left $line")
	c.Dir = t.TempDir()
	var errs strings.Builder
	c.Stderr = &errs
	master, lines := atTerminal(t, c)
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
		typed := map[string]string{"up": "one\n", "got one": "\x1a", "typed": "two\n"}[lines.Text()]
		if _, err := master.WriteString(typed); err != nil {
			t.Fatal(err)
		}
	}
	err := c.Wait()
	if want := "up, got one, stopped, typed, end, over, left two"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("it says %q and %q, and ends with %v; want %s", got, errs.String(), err, want)
	}
}

// TestTerminalLeft: once rank 0 has ended nothing is read from the terminal.
func TestTerminalLeft(t *testing.T) {
	t.Parallel()
	const job = `mpiexec -n 2 sh -c "test \$PMI_RANK = 0 && exit 0; sleep .5; echo typed; sleep .3"`
	c := exec.Command("sh", "-c", job+"; read line; echo left $line")
	master, lines := atTerminal(t, c)
	last := ""
	for lines.Scan() {
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

// atTerminal starts c at a terminal of its own, and returns where to type and what c writes to its standard output.
// After 20 seconds, or at the end of the test, the terminal goes, which ends c.
func atTerminal(t *testing.T, c *exec.Cmd) (master *os.File, lines *bufio.Scanner) {
	master, slave, err := terminal.Open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
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
	t.Cleanup(func() { watchdog.Stop() })
	return master, bufio.NewScanner(out)
}
