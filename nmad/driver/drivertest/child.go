//go:build linux

package drivertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
)

// environment is the variable that makes a test binary the second process.
const environment = "PM2_DRIVERTEST_CHILD"

// order is what the second process is told.
type order struct {
	Test   string // name of the test or benchmark that started it
	Script string
	Addr   string // where to dial
	Config driver.Config
	CPU    int // where to run, -1: anywhere
}

// mine gives the order of this process, if it is the second process of that test.
func mine(test string) (order, bool) {
	var o order
	text, ok := os.LookupEnv(environment)
	if !ok || json.Unmarshal([]byte(text), &o) != nil || o.Test != test {
		return order{}, false
	}
	return o, true
}

// obey is the whole life of the second process: dial, run the script, say how it went.
func obey(d driver.Driver, o order, run func(*side) error) error {
	go func() { // ends with its parent, whatever happens
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	ep, err := d.Open(o.Config)
	if err != nil {
		return err
	}
	defer ep.Close()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	l, err := ep.Dial(ctx, 1-o.Config.Rank, o.Addr)
	if err != nil {
		return err
	}
	defer l.Close()
	return run(&side{Link: l})
}

// child is the second process, seen from the first one.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   bytes.Buffer
}

// start runs this binary again as the second process of tb.
func start(tb testing.TB, o order, files ...*os.File) (*child, error) {
	o.Test = tb.Name()
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	parts := strings.Split(tb.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	pattern := strings.Join(parts, "/")
	args := []string{"-test.run=" + pattern, "-test.timeout=10m"}
	if _, bench := tb.(*testing.B); bench {
		args = []string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchtime=1x", "-test.timeout=10m"}
	}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	if effort.Long() {
		args = append(args, "-long")
	}
	c := &child{cmd: exec.Command(exe, args...)}
	c.cmd.Env = append(os.Environ(), environment+"="+string(text))
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	c.cmd.ExtraFiles = files
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return c, c.cmd.Start()
}

// wait says how the second process ended.
func (c *child) wait() error {
	defer c.stdin.Close()
	late := time.AfterFunc(2*Patience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("second process: %w\n%s", err, indent(c.out.String()))
	}
	return nil
}

// kill ends it the hard way and waits until it is gone.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	_ = c.stdin.Close()
}

func indent(s string) string {
	var b strings.Builder
	for sc := bufio.NewScanner(strings.NewReader(s)); sc.Scan(); {
		fmt.Fprintf(&b, "    | %s\n", sc.Text())
	}
	return b.String()
}
