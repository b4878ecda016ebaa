package veth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// envInside marks the process that Enter starts.
const envInside = "PM2_DEMO_VETH"

// Inside reports whether this process is the one that Enter started.
func Inside() bool { return os.Getenv(envInside) != "" }

// Missing is why no link can be made here; nil: it can.
func Missing() error {
	for _, tool := range []string{"ip", "tc", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is not installed (packages iproute2 and util-linux)", tool)
		}
	}
	try := exec.Command("true")
	try.SysProcAttr = apart()
	if err := try.Run(); err != nil {
		return fmt.Errorf("network namespaces are forbidden here: %w", err)
	}
	return nil
}

// Enter runs this command line again in a network namespace of its own and returns its exit status. It ends with this
// process; when ctx ends it is interrupted.
func Enter(ctx context.Context) (status int, err error) {
	// The kernel kills the child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...)
	c.Args[0] = os.Args[0]
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), envInside+"=1")
	c.SysProcAttr = apart()
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
	// A terminal's Ctrl-C is for us alone, and passed on.
	c.SysProcAttr.Setpgid = true
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) }
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() || ctx.Err() != nil && c.ProcessState != nil {
		return c.ProcessState.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("run this command in a network namespace: %w", err)
	}
	return 0, nil
}

// apart gives a child a network namespace of its own, and where we have no privilege a user
// namespace, in which we appear as root.
func apart() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return a
}
