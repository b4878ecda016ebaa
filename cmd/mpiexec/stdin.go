package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// standardInput is what rank 0 reads. A file or a pipe it gets itself, and takes from it no more than it reads. A terminal it cannot have: it is in a process group of its own, and
// a group in the background is stopped when it reads. So its lines are passed on, while mpiexec itself is in the foreground.
func standardInput() (*os.File, error) {
	if _, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil {
		return os.Stdin, nil // no terminal of ours
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pass on the standard input: %w", err)
	}
	go func() {
		defer w.Close()
		room := make([]byte, 4096)
		for {
			for !foreground() {
				time.Sleep(100 * time.Millisecond)
			}
			n, err := os.Stdin.Read(room)
			if n > 0 {
				if _, err := w.Write(room[:n]); err != nil {
					return // rank 0 has ended
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return r, nil
}

// foreground says whether this process may read the terminal.
func foreground() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// absolute is a folder that is named from another one.
func absolute(from, dir string) string {
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(from, dir)
}
