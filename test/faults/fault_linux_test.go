package faults

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched/topo"
)

// strike lets the fault happen to the victim, and, if it passes, waits until it is over. It returns when it had
// happened, and when it was over; zero: it never is.
func (r *round) strike() (began, ended time.Time, err error) {
	p, pid := r.plan, r.job.PID(r.plan.Victim)
	began = time.Now()
	switch p.Kind {
	case none:
	case kill:
		fd, e := unix.PidfdOpen(pid, 0)
		if err = syscall.Kill(pid, syscall.SIGKILL); e == nil {
			// Before the last of its threads is through with the kernel no process can know.
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 20000)
			_ = unix.Close(fd)
			began = time.Now()
		}
		return began, time.Time{}, err
	case freeze:
		return began, time.Time{}, syscall.Kill(pid, syscall.SIGSTOP)
	case pause, stop:
		if err = syscall.Kill(pid, syscall.SIGSTOP); err == nil {
			time.Sleep(p.For)
			err = syscall.Kill(pid, syscall.SIGCONT)
		}
	case load:
		err = r.crowd(pid)
	case unplug:
		return began, time.Time{}, r.hosts.at[p.Victim&1].ip("link set " + device + " down")
	case flap, outage:
		side := r.hosts.at[p.Victim&1] // the device of either side
		if err = side.ip("link set " + device + " down"); err == nil {
			time.Sleep(p.For)
			err = side.ip("link set " + device + " up")
		}
	case memory:
		var size uint64
		if size, err = addressSpace(pid); err == nil {
			err = r.limit(pid, unix.RLIMIT_AS, size+p.Bytes)
		}
	case cgroup:
		if r.group, err = newGroup(); err == nil {
			err = r.group.take(pid, p.Bytes+1<<20)
		}
	case files:
		var before unix.Rlimit
		if err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
			break
		}
		open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		err = r.limit(pid, unix.RLIMIT_NOFILE, uint64(len(open)))
		if p.For == 0 || err != nil {
			return began, time.Time{}, err
		}
		time.Sleep(p.For)
		err = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil)
	case hoard:
		if err = r.limit(pid, unix.RLIMIT_NOFILE, 512); err == nil {
			err = syscall.Kill(pid, syscall.SIGUSR1)
		}
		if p.For == 0 || err != nil {
			return began, time.Time{}, err
		}
		time.Sleep(p.For)
		err = syscall.Kill(pid, syscall.SIGUSR2)
	}
	return began, time.Now(), err
}

// limit lowers a soft limit of a process.
func (r *round) limit(pid, resource int, to uint64) error {
	var l unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &l); err != nil {
		return err
	}
	l.Cur = min(to, l.Max)
	return unix.Prlimit(pid, resource, &l, nil)
}

// addressSpace is how much of it a process has, in bytes.
func addressSpace(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	var pages uint64
	_, err = fmt.Sscan(string(text), &pages)
	return pages * uint64(os.Getpagesize()), err
}

// crowd puts the victim onto one processor, and others that compute beside it. They end with the round.
func (r *round) crowd(pid int) error {
	usable, err := topo.Affinity(pid)
	if err != nil {
		return err
	}
	one := topo.CPUs(usable.First())
	for range r.plan.Loads {
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), loadVariable+"=1", markVariable+"="+r.mark)
		in, err := c.StdinPipe()
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		r.loads = append(r.loads, &companion{c, in})
		bind(c.Process.Pid, one)
	}
	bind(pid, one)
	return nil
}

// bind puts all threads of a process onto processors; where that is forbidden they stay.
func bind(pid int, to topo.CPUSet) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, path := range all {
		if tid, err := strconv.Atoi(filepath.Base(path)); err == nil {
			_ = to.Bind(tid)
		}
	}
}

// companion is a process that computes.
type companion struct {
	cmd *exec.Cmd
	in  io.Closer
}

func (c *companion) end() {
	c.in.Close()
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}
