package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// input is what rank 0 reads, and whether that is a pipe of ours.
type input struct {
	file *os.File
	pipe bool
}

// standardInput is what rank 0 reads. A file or a pipe it gets itself, and takes from it no more than it reads. A
// terminal it cannot have: it is in a process group of its own, and a group in the background is stopped when it reads.
// So its lines are passed on, while mpiexec itself is in the foreground.
func standardInput() (input, error) {
	if _, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err != nil {
		return input{os.Stdin, false}, nil // no terminal of ours
	}
	r, w, err := os.Pipe()
	if err != nil {
		return input{}, fmt.Errorf("pass on the standard input: %w", err)
	}
	go pass(w)
	return input{r, true}, nil
}

// started: rank 0 has the pipe now, if it is on this host. When it ends that is seen, since nothing else has the
// reading end.
func (i input) started() {
	if i.pipe {
		i.file.Close()
	}
}

// pass passes the terminal's lines on until it ends, or rank 0 does. It reads only what is there, in the foreground: a
// read that waits, or that comes when the shell has made mpiexec a job in the background, would stop it.
func pass(w *os.File) {
	defer w.Close()
	room := make([]byte, 4096)
	for {
		ends := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}, {Fd: int32(w.Fd())}}
		if _, err := unix.Poll(ends, -1); err != nil && err != unix.EINTR {
			return
		}
		switch {
		case ends[1].Revents != 0:
			return // rank 0 has ended
		case ends[0].Revents == 0:
			continue
		case !foreground():
			time.Sleep(100 * time.Millisecond)
			continue
		}
		n, err := os.Stdin.Read(room)
		if n > 0 {
			if _, err := w.Write(room[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// foreground reports whether this process may read the terminal.
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
