package unix

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/nmad/driver/internal/listener"
	"github.com/pm2-go/pm2/nmad/driver/internal/stream"
)

// TestListen: the name is abstract, and it is told when it is taken.
func TestListen(t *testing.T) {
	ep := drivertest.Open(t, Driver{}, drivertest.Config(0))
	if !strings.HasPrefix(ep.Addr(), "@pm2-unix-0-") {
		t.Errorf("listens on %q", ep.Addr())
	}
	c := drivertest.Config(1)
	c.Listen = ep.Addr()
	if _, err := (Driver{}).Open(c); !errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a name that is taken: %v", err)
	}
	c.Listen = "127.0.0.1:0" // for tcp
	if addr := drivertest.Open(t, Driver{}, c).Addr(); !strings.HasPrefix(addr, "@pm2-unix-1-") {
		t.Errorf("listens on %q", addr)
	}
}

// TestAdmit: the kernel says whose process is at the other end, on either side.
func TestAdmit(t *testing.T) {
	ln, err := net.Listen("unix", listener.AbstractName(Name, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dialed, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	for end, c := range map[string]net.Conn{"dialed": dialed, "accepted": accepted} {
		if err := admit(c.(stream.Conn), os.Geteuid()); err != nil {
			t.Errorf("%s: a process of our own: %v", end, err)
		}
		if err := admit(c.(stream.Conn), os.Geteuid()+1); !errors.Is(err, driver.ErrRefused) {
			t.Errorf("%s: a process of another user: %v", end, err)
		}
	}
}

// strangerVariable makes the test binary a process that dials.
const strangerVariable = "PM2_UNIX_STRANGER"

// TestStranger: a process of another user is turned away although it holds the
// secret, and both sides say why. Only root can start one.
func TestStranger(t *testing.T) {
	if addr, ok := os.LookupEnv(strangerVariable); ok {
		_, err := drivertest.Open(t, Driver{}, drivertest.Config(1)).Dial(context.Background(), 0, addr)
		if !errors.Is(err, driver.ErrRefused) {
			t.Errorf("dial: %v", err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to start a process of another user")
	}
	exe, err := reachableCopy(t)
	if err != nil {
		t.Skip(err)
	}
	ep := drivertest.Open(t, Driver{}, drivertest.Config(0))
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		defer cancel()
		cmd := exec.Command(exe, "-test.run=^TestStranger$")
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), strangerVariable+"="+ep.Addr())
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("%s", out)
		}
		gone <- err
	}()
	_, _, err = ep.Accept(ctx)
	if err := <-gone; err != nil {
		t.Errorf("the stranger: %v", err)
	}
	// It may have gone before our side of the exchange is over.
	for end := time.Now().Add(20 * time.Second); !errors.Is(err, driver.ErrRefused) && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, _, err = ep.Accept(ctx)
	}
	if !errors.Is(err, driver.ErrRefused) || !strings.Contains(err.Error(), "65534") {
		t.Errorf("accept: %v", err)
	}
}

// reachableCopy puts this program where every user may run it.
func reachableCopy(t *testing.T) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "pm2-unix-")
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := dir + "/stranger"
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, text, 0o755)); err != nil {
		return "", err
	}
	return path, nil
}
