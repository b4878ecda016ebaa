package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
)

// A program measures one message size, or one operation of threads: ours, a peer, or the probe.
type program struct {
	name   string
	binary string // of ours
	build  func(context.Context) error
	// command is the program's command line for one size; cpus are where its two processes shall run.
	command func(size, iters int, cpus [2]int) []string
	env     []string // added to ours
	// parse reads the figure from what the program printed; nil: parseFigure.
	parse func(output []byte, size int) (figure, error)
	// confine runs the whole program on cpus, for programs that bind themselves within what they may use.
	confine bool
	// noted is what it took when it was measured elsewhere, in ns: it is not run.
	noted float64
	// isolate runs it in a network namespace of its own, where that is allowed.
	isolate bool
}

// onLoopback makes the run-time systems of Open MPI, PMIx and UCX, and what they may choose for the messages, choose
// loopback. Some of them still listen on every interface, which is why the jobs are isolated too.
var onLoopback = []string{
	"OMPI_MCA_btl_tcp_if_include=lo",
	"OMPI_MCA_oob_tcp_if_include=lo",
	"PMIX_MCA_ptl_tcp_if_include=lo",
	"UCX_NET_DEVICES=lo",
	"FI_TCP_IFACE=lo",
}

// warmup is how many round trips, or windows, precede those that are timed, ours and the peers'.
func warmup(iters int) int { return min(max(iters/10, 10), 1000) }

func arguments(size, iters int, cpus [2]int) []string {
	return []string{
		"-s", strconv.Itoa(size), "-i", strconv.Itoa(iters), "-w", strconv.Itoa(warmup(iters)),
		"-c", fmt.Sprintf("%d,%d", cpus[0], cpus[1]),
	}
}

// native is a C program that starts its own second process.
func (w *workshop) native(name, source string, options ...string) program {
	binary := source + ".bin"
	return program{
		name:  name,
		build: func(ctx context.Context) error { return w.compile(ctx, "gcc", source+".c", binary) },
		command: func(size, iters int, cpus [2]int) []string {
			return append(append([]string{w.path(binary)}, options...), arguments(size, iters, cpus)...)
		},
	}
}

// mpi is a job of two ranks, compiled and started by the commands of one MPI.
func (w *workshop) mpi(name, compiler string, launch ...string) program {
	binary := compiler + ".bin"
	return program{
		name: name,
		build: func(ctx context.Context) error {
			if _, err := exec.LookPath(launch[0]); err != nil {
				return fmt.Errorf("%s: %w", launch[0], errMissing)
			}
			return w.compile(ctx, compiler, "pingpong_mpi.c", binary)
		},
		command: func(size, iters int, cpus [2]int) []string {
			// A file of its own each time: a job that was killed leaves its lines unequal.
			w.jobs++
			line := append(slices.Clone(launch), w.path(binary), "-p", w.path(fmt.Sprintf("probe.%d", w.jobs)))
			return append(line, arguments(size, iters, cpus)...)
		},
		env:     onLoopback,
		isolate: true,
	}
}

// launchers begin the command lines of MPI jobs. They bind nothing, since the ranks do, and take
// this machine for as large as it must be.
var launchers = map[string][]string{
	"mpirun.openmpi": {"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"},
	"mpiexec.hydra":  {"mpiexec.hydra", "-iface", "lo"},
}

// openMPI spins as if the machine were as large as it takes it for.
func (w *workshop) openMPI(name string, more ...string) program {
	launch := slices.Concat(launchers["mpirun.openmpi"], spinning, []string{"-np", "2"}, more)
	return w.mpi(name, "mpicc.openmpi", launch...)
}

// ucx is Open MPI over UCX, on this host: it would not take it without a fast network.
func (w *workshop) ucx(name string) program {
	return w.openMPI(name, overUCX...)
}

func (w *workshop) mpich(name string, more ...string) program {
	launch := slices.Concat(launchers["mpiexec.hydra"], []string{"-n", "2"})
	return w.mpi(name, "mpicc.mpich", append(launch, more...)...)
}

// ours is this module's demo; binary is empty or one that is built already.
func (w *workshop) ours(binary string) program {
	if binary == "" {
		return program{binary: w.path("demo"), build: w.compileDemo}
	}
	return program{binary: binary, build: func(context.Context) error { return nil }}
}

// demo is this module's ping-pong, on the CPUs of its peer, with as many messages.
func (w *workshop) demo(binary, driver, engine string) program {
	p := w.ours(binary)
	p.name = "ours, " + driver
	if engine != "" {
		p.name += ", " + engine
	}
	p.confine = true // it binds a process to each of the two
	p.command = func(size, iters int, _ [2]int) []string {
		line := []string{p.binary, "pingpong", "--driver", driver, "--sizes", strconv.Itoa(size),
			"--iters", strconv.Itoa(iters), "--warmup", strconv.Itoa(warmup(iters)), "--format", "json"}
		if engine != "" {
			line = append(line, "--engine", engine)
		}
		return line
	}
	return p
}

// fresh is a peer that writes each message anew before it sends it, and reads it when it has come, as ours does.
func (p program) fresh() program {
	plain := p.command
	p.command = func(size, iters int, cpus [2]int) []string { return append(plain(size, iters, cpus), "-f") }
	return p
}

// windowed is p with windows of that many messages in one direction; flag is how p is told.
func (p program) windowed(flag string, messages int) program {
	plain := p.command
	p.command = func(size, iters int, cpus [2]int) []string {
		return append(plain(size, iters, cpus), flag, strconv.Itoa(messages))
	}
	return p
}

// probe is the core-to-core probe.
func (w *workshop) probe() program { return w.native("probe", "probe") }
