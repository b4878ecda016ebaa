package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

const nobody = 65534

// publish makes a folder with a copy of the demo that every user may execute; those
// in which tests are built are closed to others. The caller removes it.
func publish() (dir string, err error) {
	if dir, err = os.MkdirTemp("/tmp", "pm2-demo-test-*"); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return dir, err
	}
	defer from.Close()
	// A child that another test starts meanwhile would have the file open for writing for a
	// moment, in which the kernel refuses to execute it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	to, err := os.OpenFile(filepath.Join(dir, "demo"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return dir, err
	}
	if _, err := io.Copy(to, from); err != nil {
		return dir, err
	}
	return dir, to.Close()
}

// unprivileged ARGS...: runs demo as a user without privileges, and demo must succeed as it does for root; its
// stdout and stderr go to the files of these names.
func unprivileged(ts *testscript.TestScript, neg bool, args []string) {
	dir, err := publish()
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	ts.Check(err)
	var out, errs bytes.Buffer
	c := exec.Command(filepath.Join(dir, "demo"), args...)
	c.Dir, c.Stdout, c.Stderr = "/", &out, &errs
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if status := runStatus(ts, c, &out, &errs); status != 0 {
		ts.Fatalf("exit status %d", status)
	}
	ts.Check(os.WriteFile(ts.MkAbs("stdout.txt"), out.Bytes(), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), errs.Bytes(), 0o644))
}
