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

// output passes on what a child writes, unless that goes to a file, which the child has itself: one goroutine, one pipe.
//
//	reading ── bytes ─▶ writing ── all taken ─▶ reading
//	reading ── the pipe ends ─▶ over: all was passed on
//	reading ── the child is dead, and nothing comes for the grace period ─▶ over: cut
//	writing ── the writer fails ─▶ over: cut
//	either  ── the job is given up ─▶ over: cut
//
// Writing may take any time: a slow reader costs nothing but time. Once the child is dead, either the pipe ends after what
// it holds, or a process that the child has started, and that has left its group, holds it open. That process may go on
// writing; when it is silent for the grace period the pipe is cut, and an OutputError says so.
type output struct {
	from  deadlineReader
	to    io.Writer
	grace time.Duration
	dead  atomic.Bool // the child is; end writes it, the goroutine reads it
	over  chan error  // has room for one: how it ended
}

// deadlineReader is what an output reads.
type deadlineReader interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// pipeReader is the reading end of one. A read whose time is up returns what is there all the same: this process may have had no
// CPU, or was stopped itself.
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

// pass is the goroutine.
func (o *output) pass() {
	err := o.copy()
	_ = o.from.Close() // the child learns that nothing reads any more
	o.over <- err
}

func (o *output) copy() error {
	room := make([]byte, 32<<10)
	for silent := 0; silent < silentLooks; silent++ {
		if o.dead.Load() {
			o.limit()
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

// limit bounds the next read.
func (o *output) limit() { _ = o.from.SetReadDeadline(time.Now().Add(o.grace / silentLooks)) }

// orphan says that the child is dead.
func (o *output) orphan() {
	o.dead.Store(true)
	o.limit() // the read that has begun
}

// end waits until all that a dead child has written was passed on. The error says why something was not.
func (o *output) end(givenUp <-chan struct{}) error {
	select {
	case err := <-o.over:
		return err
	case <-givenUp:
		_ = o.from.Close() // the goroutine ends, as soon as the writer lets it
		return errGivenUp
	}
}

// plumb puts pipes between the command of a child and its writers. Both get one pipe if they are the same writer, which so
// never has two calls at once. close closes what only the child keeps, after its start.
func (c *child) plumb(grace time.Duration) (close func(), err error) {
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
		c.outputs = append(c.outputs, &output{from: pipeReader{r}, to: to, grace: grace, over: make(chan error, 1)})
		return w, nil
	}
	both := same(c.cmd.Stdout, c.cmd.Stderr)
	c.cmd.Stdout, err = connect(c.cmd.Stdout)
	if both {
		c.cmd.Stderr = c.cmd.Stdout
	} else if err == nil {
		c.cmd.Stderr, err = connect(c.cmd.Stderr)
	}
	return close, err
}

// same says whether two writers are one.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }() // of a type that cannot be compared
	return a == b
}

// drain is end for all outputs. The error is the first one: what holds one mostly holds both.
func (c *child) drain(givenUp <-chan struct{}) (first error) {
	for _, o := range c.outputs {
		o.orphan()
	}
	for _, o := range c.outputs {
		if err := o.end(givenUp); first == nil {
			first = err
		}
	}
	return first
}
