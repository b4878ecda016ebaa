package protocols

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/pioman"
)

// Tags of what the two processes tell each other before and after they measure.
const (
	hostTag = 1 + iota // rank 1: the name of its host
	doorTag            // rank 0: where the second session is opened
)

// mostText bounds such a message.
const mostText = 512

// measure has the rails measured between two processes, and prints what they then do:
//
//	rank 0                          rank 1
//	Open, without limits            Open
//	          ◀── name of its host
//	Sample                          SampleEcho
//	address of another door ──▶
//	Open, with the profile          Open
//	prints, Close                   Close
//
// In a job of two (demo run, on one host or on two) these are its processes. Otherwise rank 1 is
// this program, started once more with the same arguments.
func measure(ctx context.Context, base nmad.Config, o Options, w io.Writer) error {
	if base.Size > 2 {
		return fmt.Errorf("rails are measured between two processes, not %d: demo run -n 2 -- demo explain-protocol --measure", base.Size)
	}
	if base.Size == 2 {
		return play(ctx, base, o, w)
	}
	job, err := launch.Start(launch.Spec{N: 2, First: 1, Args: os.Args[1:], Driver: o.Driver})
	if err != nil {
		return err
	}
	if cpus := job.CPUs(0); len(cpus) > 0 {
		_ = binding.Process(cpus[0]) // beside rank 1, on a CPU that it does not use; where that is forbidden, the kernel decides
	}
	defer context.AfterFunc(ctx, job.Kill)() // whatever we wait for then fails
	c := job.Config()
	base.Size, base.Rendezvous, base.Listener, base.Secret, base.SharedCPUs = c.Size, c.Rendezvous, c.Listener, c.Secret, c.SharedCPUs
	if err := play(ctx, base, o, w); err != nil {
		job.Kill()
		_ = job.Wait() // err says more
		return err
	}
	return job.Wait()
}

// unlimited is a job's configuration without what was set or measured of its rails.
func unlimited(c nmad.Config) nmad.Config {
	c.Eager, c.Profile, c.Measured = 0, "", nil
	return c
}

// play opens the session in which is measured, and plays this process's part in it.
func play(ctx context.Context, base nmad.Config, o Options, w io.Writer) (err error) {
	base.Engine = pioman.New(pioman.Config{SharedCPUs: base.SharedCPUs})
	defer func() { _ = base.Engine.Close() }() // not from a handler: cannot fail
	s, err := nmad.Open(ctx, unlimited(base))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if base.Rank == 1 {
		return echo(ctx, base, s)
	}
	return sample(ctx, base, s, o, w)
}

// sample is rank 0.
func sample(ctx context.Context, base nmad.Config, s *nmad.Session, o Options, w io.Writer) error {
	g := s.Gate(1)
	host := make([]byte, mostText)
	n, err := g.Recv(hostTag, host)
	if err != nil {
		return err
	}
	profile, err := g.Sample(ctx)
	if err != nil {
		return err
	}
	printPoints(w, g, profile, where(string(host[:n])))
	if o.Save != "" {
		if err := profile.Save(o.Save); err != nil {
			return err
		}
	}
	at, _, err := net.SplitHostPort(base.Rendezvous)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		return fmt.Errorf("open another door for rank 1: %w", err)
	}
	if err := g.Send(doorTag, []byte(l.Addr().String())); err != nil {
		l.Close()
		return err
	}
	c := base
	c.Rendezvous, c.Listener = l.Addr().String(), l
	if c.Profile = o.Save; o.Save == "" {
		c.Measured = profile
	}
	second, err := nmad.Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(printTables(w, second), second.Close())
}

// echo is rank 1.
func echo(ctx context.Context, base nmad.Config, s *nmad.Session) error {
	g := s.Gate(0)
	if err := g.Send(hostTag, []byte(hostName())); err != nil {
		return err
	}
	if err := g.SampleEcho(ctx); err != nil {
		return err
	}
	door := make([]byte, mostText)
	n, err := g.Recv(doorTag, door)
	if err != nil {
		return err
	}
	c := unlimited(base)
	c.Rendezvous = string(door[:n])
	second, err := nmad.Open(ctx, c)
	if err != nil {
		return err
	}
	return second.Close()
}

// where says between which ranks was measured.
func where(other string) string {
	own := hostName()
	if own == other {
		return "two processes on " + own
	}
	return "a process on " + own + " and one on " + other
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "a host without a name"
	}
	return name[:min(len(name), mostText)]
}
