package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// loopbackName is the name under which this binary starts itself again inside a fresh network namespace: there it
// raises the loopback interface, the only one, and becomes the command of its remaining arguments.
const loopbackName = "pm2-peers-loopback"

// enterLoopback does that if this process was started for it. It is the first call of main, and returns in every other
// process.
func enterLoopback() {
	if len(os.Args) < 2 || os.Args[0] != loopbackName {
		return
	}
	err := raiseLoopback()
	if err == nil {
		var path string
		if path, err = exec.LookPath(os.Args[1]); err == nil {
			err = syscall.Exec(path, os.Args[1:], os.Environ())
		}
	}
	fmt.Fprintf(os.Stderr, "run %s on loopback only: %v\n", os.Args[1], err)
	os.Exit(1)
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("raise lo: %w", err)
	}
	return nil
}

// onlyLoopback changes cmd so that it runs where there is no interface but loopback. Without privilege that takes a
// user namespace, in which the user appears as root; it may only be called when canIsolate says so.
func onlyLoopback(cmd *exec.Cmd) {
	cmd.Args = append([]string{loopbackName, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/proc/self/exe"
	cmd.Err = nil
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
}

// canIsolate reports whether the kernel lets us have network namespaces. Where it does not, onLoopback's settings alone
// keep MPI off the other interfaces.
var canIsolate = sync.OnceValue(func() bool {
	cmd := exec.Command("true")
	onlyLoopback(cmd)
	return cmd.Run() == nil
})
