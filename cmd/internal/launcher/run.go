package launcher

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/launch"
)

// End is how a job has ended, or why it was not started.
type End struct {
	Status int   // the exit status that stands for it
	Err    error // what is to be said; nil: nothing, also where Status is not 0
	Usage  bool  // it was not started, since it was asked for wrongly
}

// Run starts a job and returns when it has ended, and all that its processes wrote was passed on, in a style.
// lifeline, if there is one, is what the job ends with. started is called once all processes run; nil: nothing is.
func Run(spec launch.Spec, style Style, lifeline io.Reader, started func(*launch.Job)) End {
	flush := func(<-chan struct{}) error { return nil }
	if lines := style.lines(); lines != nil {
		out, errs := lines(os.Stdout), lines(os.Stderr)
		flush = func(givenUp <-chan struct{}) error { return errors.Join(errs.Flush(givenUp), out.Flush(givenUp)) }
		spec.Stdout, spec.Stderr = out.Of, errs.Of
	}
	job, err := launch.Start(spec)
	if errors.Is(err, launch.ErrSpec) {
		return End{2, err, true}
	}
	if err != nil {
		return End{launch.StartStatus(err), err, false}
	}
	if lifeline != nil {
		job.EndWith(lifeline)
	}
	if started != nil {
		started(job)
	}
	err = job.Wait()
	if unwritten := flush(job.GivenUp()); err == nil {
		err = unwritten
	}
	return endOf(err)
}

func endOf(err error) End {
	var exit *launch.ExitError
	var abort *launch.AbortError
	var caught *launch.InterruptError
	switch {
	case err == nil:
		return End{}
	case errors.As(err, &exit):
		if exit.Status() == 128+int(unix.SIGPIPE) && Unread() {
			return End{Status: exit.Status()} // what the rank wrote went the way of our own output, to a reader that has gone
		}
		return End{exit.Status(), err, false}
	case errors.As(err, &abort):
		return End{max(abort.Status&0xff, 1), err, false} // 0 is for jobs that have come to their end
	case errors.As(err, &caught):
		return End{caught.Status(), err, false}
	case errors.Is(err, unix.EPIPE) && Unread():
		return End{Status: 128 + int(unix.SIGPIPE)} // as if the signal had ended it
	}
	return End{1, err, false}
}

// Style is how what the processes write is passed on.
type Style int

// Styles of the output.
const (
	Raw    Style = iota // as it comes
	Bare                // whole lines
	Marked              // whole lines, with the rank before each
)

// lines returns what makes the lines of a stream; nil: none.
func (s Style) lines() func(io.Writer) *launch.Lines {
	switch s {
	case Bare:
		return launch.NewBareLines
	case Marked:
		return launch.NewLines
	}
	return nil
}

// Unread reports whether the reader of the standard output has gone, as head does.
func Unread() bool {
	out := []unix.PollFd{{Fd: 1}}
	_, err := unix.Poll(out, 0)
	return err == nil && out[0].Revents&unix.POLLERR != 0
}
