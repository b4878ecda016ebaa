package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/veth"
)

// NoPeers is the value of Options.Peers that leaves the peers out.
const NoPeers = "none"

// peersCommand is what runs MPI programs, with the sources in it.
const peersCommand = "github.com/pm2-go/pm2/test/peers"

// A setting is a peer: its name for test/peers, and for people.
type setting struct{ name, title string }

var (
	openMPI         = setting{"openmpi", "Open MPI, shm"}
	openMPIYield    = setting{"openmpi-yield", "Open MPI, shm, yielding waits"}
	openMPIUCX      = setting{"openmpi-ucx-yield", "Open MPI over UCX, yielding waits"}
	openMPITCP      = setting{"openmpi-tcp", "Open MPI, tcp"}
	openMPITCPYield = setting{"openmpi-tcp-yield", "Open MPI, tcp, yielding waits"}
	mpich           = setting{"mpich", "MPICH, shm"}
	mpichTCP        = setting{"mpich-tcp", "MPICH, tcp"}
)

// peers runs MPI jobs beside ours. It is for one goroutine.
type peers struct {
	dir      *scratch
	command  string
	patience time.Duration // bounds one job
}

// errNoPeers reports that no peers can be run here.
var errNoPeers = errors.New("no peers")

// peerPatience is the patience with the jobs of experiments.
const peerPatience = 90 * time.Second

// errSlow reports that a job did not end in time.
var errSlow = errors.New("it took longer")

// statusMissing is how test/peers ends where a setting is not installed.
const statusMissing = 3

// newPeers makes ready what o.Peers says; an errNoPeers says why there are none.
func newPeers(ctx context.Context, o Options) (_ *peers, err error) {
	if o.Peers == NoPeers {
		return nil, fmt.Errorf("%w are wanted: --peers %s", errNoPeers, NoPeers)
	}
	p := &peers{command: o.Peers, patience: peerPatience}
	if p.dir, err = newScratch(); err != nil {
		return nil, fmt.Errorf("make a folder to build the peers in: %w", err)
	}
	if p.command != "" {
		return p, nil
	}
	p.command = filepath.Join(p.dir.path, "peers")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", p.command, peersCommand).CombinedOutput(); err != nil {
		p.remove()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w: the go command does not build %s here (run this inside the module, or name a built one with --peers): %s",
			errNoPeers, peersCommand, strings.TrimSpace(string(out)))
	}
	return p, nil
}

// peersFor is newPeers, but where there are none it has s skip the settings, and returns nil.
func peersFor(ctx context.Context, o Options, s *Sink, settings ...setting) (*peers, error) {
	p, err := newPeers(ctx, o)
	if !errors.Is(err, errNoPeers) {
		return p, err
	}
	for _, x := range settings {
		s.Skip(x.title, err.Error())
	}
	return nil, nil
}

func (ps *peers) remove() {
	if ps != nil {
		ps.dir.remove()
	}
}

// available returns those of the settings that can be used here, and has s skip the others. Without peers it does
// nothing.
func (ps *peers) available(ctx context.Context, s *Sink, where string, settings ...setting) (usable []setting, err error) {
	if ps == nil {
		return nil, nil
	}
	for _, x := range settings {
		_, err := ps.job(ctx, x, nil, "threads_mpi", "fan", "-n", "1", "-s", "1", "-i", "1", "-t", "1", "-c", where)
		switch {
		case errors.Is(err, errNoPeers):
			s.Skip(x.title, err.Error())
		case err != nil:
			return nil, err
		default:
			usable = append(usable, x)
		}
	}
	return usable, nil
}

// job runs a program of test/peers and returns the numbers of each line that it prints; with a
// link, rank 1 is on the other host.
func (ps *peers) job(ctx context.Context, x setting, link *veth.Link, program string, args ...string) ([][]float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ps.patience, fmt.Errorf("%w than %v", errSlow, ps.patience))
	defer cancel()
	line := []string{"job", "-dir", ps.dir.path}
	if link != nil {
		line = append(line, "-iface", veth.Device, "-subnet", veth.Subnet, "-enter", strings.Join(link.Enter(), " "))
	}
	line = append(append(line, x.name, program), args...)
	cmd := exec.CommandContext(ctx, ps.command, line...)
	// The kernel ends the job when the thread that started it does.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == statusMissing {
		return nil, fmt.Errorf("%w: %s", errNoPeers, strings.TrimSpace(errs.String()))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s %s: %w: %s", x.title, program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return numbers(out.String())
}

// numbers reads lines of them.
func numbers(text string) (lines [][]float64, err error) {
	for line := range strings.Lines(text) {
		var of []float64
		for _, word := range strings.Fields(line) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, fmt.Errorf("a peer printed %q where a number belongs", word)
			}
			of = append(of, v)
		}
		if len(of) > 0 {
			lines = append(lines, of)
		}
	}
	return lines, nil
}
