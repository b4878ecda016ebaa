//go:build !linux && unix

package launch

import "syscall"

// attributes gives a child a process group of its own. This system cannot tie
// its life to ours.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// mayKill says nothing: see attributes.
func mayKill() error { return nil }

// explain knows no more than the error here.
func explain(err error, _ string) error { return err }

// awaitDeath cannot wait without reaping on this system.
func awaitDeath(int) bool { return false }

// stopped is not known on this system.
func stopped(int) bool { return false }

// stopHere stops this process.
func stopHere() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }
