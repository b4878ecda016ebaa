package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/sched/topo"
)

// runLimit is how long one program may take for one size before it is killed.
const runLimit = time.Minute

// errSlow says that a program was ended at runLimit.
var errSlow = errors.New("took too long, on a machine that is busy with something else or because it hangs")

// run starts p and returns its figure. The program leads a process group, which is ended when ctx or the limit ends.
func run(ctx context.Context, p program, size, iters int, cpus [2]int) (figure, error) {
	if p.noted > 0 {
		return figure{Size: size, Median: p.noted}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, errSlow)
	defer cancel()
	line := p.command(size, iters, cpus)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A launcher that is asked to end takes its ranks along, which are in groups of their own; what is still there
	// after WaitDelay is killed.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if p.isolate && canIsolate() {
		onlyLoopback(cmd)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs

	start := cmd.Start
	if p.confine {
		start = func() error { return onCPUs(cpus, cmd.Start) }
	}
	err := start()
	if err == nil {
		err = cmd.Wait()
	}
	if ctx.Err() != nil {
		if cmd.Process != nil {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		err = fmt.Errorf("%w (limit %v)", context.Cause(ctx), runLimit)
	}
	if err != nil {
		return figure{}, fmt.Errorf("run %s (%s): %w\n%s", p.name, strings.Join(line, " "), err, tail(errs.String()))
	}
	parse := p.parse
	if parse == nil {
		parse = parseFigure
	}
	f, err := parse(out.Bytes(), size)
	if err != nil {
		return figure{}, fmt.Errorf("run %s (%s): %w\n%s", p.name, strings.Join(line, " "), err, tail(errs.String()))
	}
	return f, nil
}

// onCPUs calls f on an OS thread that may run on those CPUs only, which the processes started by f inherit. The thread
// ends with the call.
func onCPUs(cpus [2]int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: the runtime then drops the narrowed thread
		if err := topo.CPUs(cpus[:]...).Bind(0); err != nil {
			done <- fmt.Errorf("bind to the CPUs %v: %w", cpus, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// usableCPUs lists the CPUs this process may run on.
func usableCPUs() ([]int, error) {
	set, err := topo.Affinity(0)
	if err != nil {
		return nil, fmt.Errorf("ask which CPUs may be used: %w", err)
	}
	return slices.Collect(set.All()), nil
}

// tail keeps the last lines of what a program complained about.
func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}
