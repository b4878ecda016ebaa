package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A setting is one way to start a job of two ranks.
type setting struct {
	compiler, launcher string
	options            []string // before each rank's command
}

// Open MPI with UCX below it must be told that it need not look for the hardware that UCX is for.
var (
	// Open MPI spins as if the machine were as large as it takes it for, or yields.
	spinning = []string{"--mca", "mpi_yield_when_idle", "0"}
	yielding = []string{"--mca", "mpi_yield_when_idle", "1"}
	overTCP  = []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self"}
	overUCX  = []string{"--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"}
)

// jobSettings are those of MPI that job knows, by name.
var jobSettings = map[string]setting{
	"openmpi":           {compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", options: spinning},
	"openmpi-yield":     {compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", options: yielding},
	"openmpi-ucx":       {compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", options: slices.Concat(spinning, overUCX)},
	"openmpi-ucx-yield": {compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", options: slices.Concat(yielding, overUCX)},
	"openmpi-tcp":       {compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", options: slices.Concat(spinning, overTCP)},
	"openmpi-tcp-yield": {compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", options: slices.Concat(yielding, overTCP)},
	"mpich":             {compiler: "mpicc.mpich", launcher: hydra},
	"mpich-tcp":         {compiler: "mpicc.mpich", launcher: hydra, options: []string{"-genv", "UCX_TLS", "tcp,self"}},
}

const hydra = "mpiexec.hydra"

// ownNetworks runs a command that sees in /sys the networks of its own namespace: there UCX looks for them.
var ownNetworks = []string{"unshare", "-m", "sh", "-c", `umount -l /sys; mount -t sysfs networks /sys && exec "$@"`, "sh"}

var errUsage = errors.New("wrong usage")

// The exit status of job where the setting cannot be used here: the caller leaves it out.
const statusMissing = 3

const jobUsage = `Usage: peers job [-dir FOLDER] [-iface NAME -subnet CIDR -enter COMMAND] SETTING PROGRAM ARGS...

Compiles src/PROGRAM.c and runs it as two MPI ranks, whose output it passes on. SETTING is
one of %s.
Exit status: 0 done, 1 failed, 2 wrong usage, 3 it is not installed here.
`

// A job is one run of an MPI program for another command, which reads what it prints.
type job struct {
	setting
	dir           string // where built programs are kept; empty: nowhere
	iface, subnet string // of tcp settings; empty: loopback
	enter         []string
	program       string
	args          []string
}

func parseJob(args []string) (j job, err error) {
	var names []string
	for name := range jobSettings {
		names = append(names, name)
	}
	slices.Sort(names)
	f := flag.NewFlagSet("peers job", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&j.dir, "dir", "", "`folder` that keeps what was built, for the next job")
	f.StringVar(&j.iface, "iface", "", "network `interface` between the ranks, in both their network namespaces; empty: loopback alone")
	f.StringVar(&j.subnet, "subnet", "", "the `addresses` on it, such as 10.77.0.0/24")
	enter := f.String("enter", "", "`command` that runs rank 1 in its network namespace")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Printf(jobUsage, strings.Join(names, ", "))
			f.SetOutput(os.Stdout)
			f.PrintDefaults()
		}
		return j, fmt.Errorf("job: %w: %w", errUsage, err)
	}
	var known bool
	switch j.setting, known = jobSettings[f.Arg(0)]; {
	case f.NArg() < 2:
		return j, fmt.Errorf("job: %w: name a setting and a program, see -help", errUsage)
	case !known:
		return j, fmt.Errorf("job: %w: no setting %q: choose from %s", errUsage, f.Arg(0), strings.Join(names, ", "))
	case (j.iface == "") != (j.subnet == ""):
		return j, fmt.Errorf("job: %w: -iface and -subnet belong together", errUsage)
	}
	j.program, j.args, j.enter = f.Arg(1), f.Args()[2:], strings.Fields(*enter)
	if _, err := sources.Open("src/" + j.program + ".c"); err != nil {
		return j, fmt.Errorf("job: %w: no program %q in src", errUsage, j.program)
	}
	return j, nil
}

// runJob is the whole of peers job.
func runJob(ctx context.Context, args []string) error {
	j, err := parseJob(args)
	if err != nil {
		return err
	}
	w, err := newWorkshop()
	if err != nil {
		return err
	}
	defer w.remove()
	if j.dir != "" {
		w.out = j.dir
	}
	if _, err := exec.LookPath(j.launcher); err != nil {
		return fmt.Errorf("%s: %w", j.launcher, errMissing)
	}
	binary := j.program + "." + j.compiler
	if err := w.compile(ctx, j.compiler, j.program+".c", binary); err != nil {
		return err
	}
	return j.start(ctx, w.built(binary))
}

// start runs the ranks, until they end or ctx does.
func (j *job) start(ctx context.Context, binary string) error {
	rank := append([]string{binary}, j.args...)
	if j.iface != "" && j.launcher == hydra {
		rank = slices.Concat(ownNetworks, rank)
	}
	line := slices.Concat(launchers[j.launcher], j.options, []string{"-np", "1"}, rank, []string{":", "-np", "1"}, j.enter, rank)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), onLoopback...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	switch {
	case j.iface != "":
		cmd.Env = append(cmd.Env, "OMPI_MCA_btl_tcp_if_include="+j.subnet, "OMPI_MCA_oob_tcp_if_include="+j.subnet,
			"PMIX_MCA_ptl_tcp_if_include="+j.iface, "UCX_NET_DEVICES="+j.iface, "FI_TCP_IFACE="+j.iface)
	case canIsolate():
		onlyLoopback(cmd)
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", strings.Join(line, " "), err)
	}
	return nil
}

// exitOf prints an error of runJob and returns the exit status.
func exitOf(err error) int {
	var broken *exec.ExitError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errMissing):
		fmt.Fprintln(os.Stderr, "peers:", err)
		return statusMissing
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "peers:", err)
		return 2
	case errors.As(err, &broken):
		return 1 // it has said why
	}
	fmt.Fprintln(os.Stderr, "peers:", err)
	return 1
}
