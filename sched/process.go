package sched

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"

	"github.com/pm2-go/pm2/sched/internal/machine"
)

// A child process inherits the CPU mask of the OS thread that starts it, and a parent death signal
// (SysProcAttr.Pdeathsig) comes when that OS thread ends, not when the process does. An LWP has one CPU, and ends; so
// have others start it.

// StartProcess is cmd.Start on an OS thread that is no LWP: the child gets the CPU mask of the process, and its parent
// death signal, if it has one, comes when this process ends. The calling thread gives its VP away meanwhile. The first
// child with a parent death signal makes a goroutine that stays, with an OS thread of its own, until the process ends.
func (moduleCalls) StartProcess(cmd *exec.Cmd) (err error) {
	if cmd == nil {
		return errors.New("marcel: StartProcess of a nil *exec.Cmd")
	}
	start := func() {
		done := make(chan struct{})
		job := func() {
			defer close(done)
			err = cmd.Start()
		}
		if machine.DiesWithParent(cmd) {
			parent.once.Do(func() {
				parent.jobs = make(chan func())
				go serveParent()
			})
			parent.jobs <- job
		} else {
			go onFreeThread(job)
		}
		<-done
	}
	Blocking(start)
	return err
}

// RunProcess is StartProcess and then cmd.Wait, without the VP.
func (moduleCalls) RunProcess(cmd *exec.Cmd) error {
	err := moduleCalls{}.StartProcess(cmd)
	if err == nil {
		Blocking(func() { err = cmd.Wait() })
	}
	return err
}

// parent starts children on a goroutine whose OS thread lives as long as the process.
var parent struct {
	once sync.Once
	jobs chan func()
}

func serveParent() {
	runtime.LockOSThread()
	for job := range parent.jobs {
		onFreeThread(job)
	}
}

// onFreeThread calls f on an OS thread that is no LWP's. If the Go runtime cloned that thread from an LWP's it may have
// the LWP's mask and policy, though.
func onFreeThread(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if machine.IsBound() {
		machine.Widen(0)
		setAttr(0, schedOther, nice(), 0)
	}
	f()
}
