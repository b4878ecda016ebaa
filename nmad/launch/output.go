package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// output passes on what a child writes, unless the child writes to a file itself. It is one goroutine and one
// pipe.
//
//	reading ── bytes ─▶ writing ── all taken ─▶ reading
//	reading ── the pipe ends ─▶ over: all was passed on
//	reading ── the child has died, and nothing comes for the grace period ─▶ over: cut
//	writing ── the writer fails ─▶ over: cut
//	either  ── the job is given up ─▶ over: cut
//
// Writing may take any time: a slow reader only takes time. After the death of the child, either the pipe ends
// when its content is read, or a process that the child has started, and that has left its group, holds the pipe
// open. That process may go on writing; when it is silent for the grace period the pipe is cut, and an OutputError
// says so.
type output struct {
	from      deadlineReader
	to        io.Writer
	grace     time.Duration
	childDead atomic.Bool // childDied writes it, the goroutine reads it
	result    chan error  // how it ended; has room for one
}

// deadlineReader is what an output reads from.
type deadlineReader interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// pipeReader is the reading end of a pipe. A read whose time is up still returns bytes that are there: this
// process may have had no CPU, or was stopped itself.
type pipeReader struct{ *os.File }

func (p pipeReader) Read(b []byte) (n int, err error) {
	if n, err = p.File.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	late := err
	_ = p.SetReadDeadline(time.Time{}) // for the raw read: closed meanwhile fails below, too
	raw, err := p.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), b)
		return err != syscall.EINTR
	})
	switch {
	case failed != nil:
		return 0, failed
	case n > 0:
		return n, nil
	case err == nil:
		return 0, io.EOF
	}
	return 0, late
}

// silentLooks is how many reads in a row find nothing, each for its part of the grace period, before a pipe is cut. So
// processes that were stopped together with this one have time to go on.
const silentLooks = 2

var (
	errSilent  = errors.New("what it has left running holds it open and was silent for longer than the grace period; redirect the output of what is to stay")
	errGivenUp = errors.New("the job was ended, and it was not read")
)

// run is the goroutine of the output.
func (o *output) run() {
	err := o.copy()
	_ = o.from.Close() // the child learns that nothing reads any more
	o.result <- err
}

// copy passes bytes on until the pipe ends or is cut. The error says why it was cut.
func (o *output) copy() error {
	room := make([]byte, 32<<10)
	for silent := 0; silent < silentLooks; silent++ {
		if o.childDead.Load() {
			o.boundRead()
		}
		n, err := o.from.Read(room)
		if n > 0 {
			silent = -1
			if _, err := o.to.Write(room[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return errSilent
}

// boundRead sets the deadline of the next read.
func (o *output) boundRead() { _ = o.from.SetReadDeadline(time.Now().Add(o.grace / silentLooks)) }

// childDied notes that the child has died.
func (o *output) childDied() {
	o.childDead.Store(true)
	o.boundRead() // the read that has begun
}

// wait waits until everything that a dead child has written was passed on. The error says why something was not.
func (o *output) wait(givenUp <-chan struct{}) error {
	select {
	case err := <-o.result:
		return err
	case <-givenUp:
		_ = o.from.Close() // the goroutine ends, as soon as the writer lets it
		return errGivenUp
	}
}

// connectOutputs puts pipes between the child and its writers. If both writers are the same there is one pipe, so
// the writer never has two calls at once. close closes the ends that only the child keeps, after its start.
func (c *child) connectOutputs(grace time.Duration) (close func(), err error) {
	var ends []*os.File
	close = func() {
		for _, e := range ends {
			e.Close()
		}
	}
	connect := func(to io.Writer) (io.Writer, error) {
		if _, file := to.(*os.File); file || to == nil {
			return to, nil
		}
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("read its output: %w", err)
		}
		ends = append(ends, w)
		c.outputs = append(c.outputs, &output{from: pipeReader{r}, to: to, grace: grace, result: make(chan error, 1)})
		return w, nil
	}
	both := sameWriter(c.cmd.Stdout, c.cmd.Stderr)
	c.cmd.Stdout, err = connect(c.cmd.Stdout)
	if both {
		c.cmd.Stderr = c.cmd.Stdout
	} else if err == nil {
		c.cmd.Stderr, err = connect(c.cmd.Stderr)
	}
	return close, err
}

// sameWriter reports whether two writers are the same one.
func sameWriter(a, b io.Writer) bool {
	defer func() { _ = recover() }() // of a type that cannot be compared
	return a == b
}

// drainOutputs waits for all outputs, and returns the first error: a cause of one is mostly a cause of both.
func (c *child) drainOutputs(givenUp <-chan struct{}) (first error) {
	for _, o := range c.outputs {
		o.childDied()
	}
	for _, o := range c.outputs {
		if err := o.wait(givenUp); first == nil {
			first = err
		}
	}
	return first
}
