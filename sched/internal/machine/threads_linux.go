package machine

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched/topo"
)

// The Go runtime ends the process if the kernel refuses it a thread. So LWPs must leave it those that it needs: one for
// each P that runs goroutines, and runtimeThreads for the runtime's monitor, for cgo's or os/signal's, and for
// goroutines in system calls. Where fewer than twice as many threads are left, LWPs get half of what is left.
const runtimeThreads = 16

// ThreadBound returns how many OS threads LWPs may have, beside the threads that the process has already: at least 1,
// at most the default of sched.Config.MaxLWPs. The kernel starts a thread only if all of these allow it:
//
//   - RLIMIT_NPROC, the soft limit, which counts the threads of all processes of the user.
//     The kernel does not enforce it for root, nor for a process with CAP_SYS_RESOURCE or
//     CAP_SYS_ADMIN, all three outside of a user namespace only; ThreadBound ignores it then.
//   - pids.max of the process's cgroup and of those above it.
//   - /proc/sys/kernel/threads-max and pid_max, of the whole system.
//
// It reads a dozen small files, 0.15 ms. If RLIMIT_NPROC may be the tightest, it looks at each process in /proc as
// well, some microseconds each. What it cannot read does not limit. Other processes may start threads at any time: the
// bound is an estimate.
func ThreadBound() int {
	return threadLimits{
		root:      os.DirFS("/"),
		uid:       os.Getuid(),
		procs:     baseProcs(),
		userLimit: softNproc,
		inCgroup:  topo.TasksLeft,
	}.bound()
}

// threadLimits reads the limits on the number of OS threads. Tests replace it.
type threadLimits struct {
	root      fs.FS                      // of the file system; /proc is read
	uid       int                        // the real one
	procs     int                        // baseProcs
	userLimit func() (n int, ok bool)    // RLIMIT_NPROC, if there is one
	inCgroup  func() (left int, ok bool) // threads that the cgroup lets start
}

// softNproc is the soft RLIMIT_NPROC, and whether it limits at all.
func softNproc() (int, bool) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &r) != nil || r.Cur == unix.RLIM_INFINITY {
		return 0, false
	}
	return int(min(r.Cur, 1<<30)), true
}

func (l threadLimits) bound() int {
	reserve := l.procs + runtimeThreads
	enough := MaxThreads + reserve
	left := enough
	atMost := func(n int, ok bool) {
		if ok {
			left = min(left, max(n, 0))
		}
	}
	atMost(l.inCgroup())
	running := l.threadsOfSystem()
	for _, name := range []string{"threads-max", "pid_max"} {
		most, ok := l.number("proc/sys/kernel/" + name)
		atMost(most-running, ok)
	}
	if most, ok := l.userLimit(); ok && !l.exempt() {
		// The user has no more threads than the system. If even those leave enough, the user's need not be counted.
		if running == 0 || most-running < left {
			atMost(most-l.threadsOfUser(), true)
		}
	}
	return min(max(1, left-min(reserve, left/2)), MaxThreads)
}

// number reads a file that holds one number.
func (l threadLimits) number(name string) (int, bool) {
	text, err := fs.ReadFile(l.root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
}

// threadsOfSystem returns how many threads all processes have, the kernel's included. /proc/loadavg has it, "0.71 0.40
// 0.19 2/84 24637": 84. 0: it is not known.
func (l threadLimits) threadsOfSystem() int {
	text, err := fs.ReadFile(l.root, "proc/loadavg")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(fields[3], "/")
	n, err := strconv.Atoi(all)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// threadsOfUser counts the threads of the processes in /proc that belong to the user. It misses those of other PID
// namespaces.
func (l threadLimits) threadsOfUser() (n int) {
	entries, err := fs.ReadDir(l.root, "proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if name := e.Name(); name[0] < '1' || name[0] > '9' {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // the process has ended
		}
		// The directory belongs to the effective user. The limit counts for the real one: they differ in a few
		// programs, as sudo.
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != l.uid {
			continue
		}
		threads, _ := l.status(e.Name(), "Threads:")
		if t, err := strconv.Atoi(threads); err == nil && t > 0 {
			n += t
		}
	}
	return n
}

// status returns the first word of a line of /proc/PID/status.
func (l threadLimits) status(pid, key string) (string, bool) {
	text, err := fs.ReadFile(l.root, "proc/"+pid+"/status")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				return f[0], true
			}
		}
	}
	return "", false
}

// exempt reports whether the kernel does not enforce RLIMIT_NPROC: for root, and for a process with one of two
// capabilities. In a user namespace neither counts, as most containers without root on the host show.
func (l threadLimits) exempt() bool {
	if text, err := fs.ReadFile(l.root, "proc/self/uid_map"); err == nil {
		if f := strings.Fields(string(text)); len(f) != 3 || f[0] != "0" || f[1] != "0" || f[2] != "4294967295" {
			return false
		}
	} // without that file, the kernel has no user namespaces
	if l.uid == 0 {
		return true
	}
	text, _ := l.status("self", "CapEff:")
	caps, err := strconv.ParseUint(text, 16, 64)
	return err == nil && caps&(1<<unix.CAP_SYS_RESOURCE|1<<unix.CAP_SYS_ADMIN) != 0
}
