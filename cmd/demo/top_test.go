package main

import (
	"bytes"
	"os"
	"os/exec"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// isAttached waits until a process serves at a path, and looks at it with demo top until its scheduler runs:
// attached PATH.
func isAttached(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: attached PATH")
	}
	path := ts.MkAbs(args[0])
	var info os.FileInfo
	end := time.Now().Add(time.Minute)
	for ; ; time.Sleep(10 * time.Millisecond) {
		var err error
		if info, err = os.Lstat(path); err == nil {
			break
		}
		if time.Now().After(end) {
			ts.Fatalf("no process serves: %v", err)
		}
	}
	if info.Mode()&os.ModeSocket == 0 || info.Mode().Perm() != 0o600 {
		ts.Fatalf("%s is %v, want a socket for its owner alone", path, info.Mode())
	}
	for { // a process serves from its start, and its scheduler runs a moment later
		var out, errs bytes.Buffer
		c := exec.Command(demoPath(ts), "top", "--once", "--every", "50ms", "--attach", path)
		c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &out, &errs
		switch status := runStatus(ts, c, &out, &errs); {
		case status == 0 && bytes.Contains(out.Bytes(), []byte("threads: ")):
			return
		case status != 0 || !bytes.HasSuffix(out.Bytes(), []byte("\nno scheduler runs\n")) || time.Now().After(end):
			ts.Fatalf("status %d", status)
		}
	}
}
