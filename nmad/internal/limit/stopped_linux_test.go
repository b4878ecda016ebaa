package limit

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// patient is a limit that an idle machine is far from, and longStop more than it.
const (
	patient  = 4 * time.Second
	longStop = patient + patient/4
)

const envStopped = "PM2_TEST_STOPPED"

// TestStopped: a process that is stopped for longer than its limit finds, when it goes on, what has come
// meanwhile.
func TestStopped(t *testing.T) {
	if os.Getenv(envStopped) != "" {
		stopped(t)
		return
	}
	if testing.Short() {
		t.Skip("the stop lasts for seconds")
	}
	t.Parallel()
	ours, theirs, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStopped$", "-test.v")
	cmd.Env = append(os.Environ(), envStopped+"=1")
	cmd.ExtraFiles = []*os.File{theirs}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	ready := make([]byte, 1)
	if _, err := ours.Read(ready); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(longStop) // the stop itself
	_, _ = ours.Write(ready)
	_ = cmd.Process.Signal(syscall.SIGCONT)
	var lines []string
	for s := bufio.NewScanner(output); s.Scan(); {
		lines = append(lines, s.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %q", err, lines)
	}
}

// stopped is the process that is to be stopped: it says that its limit runs, and reads.
func stopped(t *testing.T) {
	c, err := net.FileConn(os.NewFile(3, "parent"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defer Bound(c, patient).Stop()
	b := make([]byte, 1)
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(b); err != nil {
		t.Fatalf("after a stop: %v", err)
	}
}

// pair gives a connected pair of sockets, one of which another process is to have.
func pair() (ours net.Conn, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("a pair of sockets: %w", err)
	}
	f := os.NewFile(uintptr(fds[0]), "ours")
	defer f.Close()
	theirs = os.NewFile(uintptr(fds[1]), "theirs")
	if ours, err = net.FileConn(f); err != nil {
		theirs.Close()
	}
	return ours, theirs, err
}
