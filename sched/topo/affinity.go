package topo

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"github.com/pm2-go/pm2/internal/kernel"
)

// processMask is what the process was allowed when it started. Later the calling OS thread may be bound, by a scheduler
// of this very program.
var processMask = func() CPUSet {
	s, err := Affinity(os.Getpid())
	if err != nil || s.Empty() {
		for i := range runtime.NumCPU() {
			s.Add(i)
		}
	}
	return s
}()

// ProcessMask returns the CPUs that the affinity mask of this process allowed when it started; if the kernel does not
// say, as many as the Go runtime counts. The cpuset of its cgroup may allow fewer.
func ProcessMask() CPUSet { return processMask }

// Affinity returns the CPUs that an OS thread may use now. tid 0 is the calling OS thread, to which the caller should
// be locked; a process's id is its first thread. An error is the kernel's.
func Affinity(tid int) (CPUSet, error) {
	all, err := kernel.Affinity(tid)
	if err != nil {
		return CPUSet{}, err
	}
	return cpuWords(all[:min(len(all), MaxCPUs/64)]).set(), nil
}

// Bind has an OS thread use the CPUs of s only, and those that it starts later; tid as in [Affinity]. The kernel leaves
// out CPUs that it does not have. Where binding is forbidden, as on systems other than Linux, the thread stays as it
// was. An error is the kernel's.
func (s CPUSet) Bind(tid int) error {
	var w cpuWords
	for c := range s.All() {
		w.add(c)
	}
	return kernel.SetAffinity(tid, w)
}

// ProcessAffinity returns the CPUs that any thread of this process may use now. One thread does not say it, not even
// the first: a goroutine that binds its thread and ends locked takes the thread along, but the first thread of a
// process cannot end, and stays bound for good.
func ProcessAffinity() (all CPUSet, err error) {
	err = eachThread(func(tid int) error {
		s, err := Affinity(tid)
		all = all.Or(s)
		return err
	})
	if _, ok := errors.AsType[*fs.PathError](err); ok { // no /proc
		return Affinity(os.Getpid())
	}
	return all, err
}

// BindProcess is Bind for each thread of this process; those that they start later inherit it. If it is forbidden none
// is bound.
func (s CPUSet) BindProcess() error { return eachThread(s.Bind) }

// eachThread calls f with each OS thread of this process, and with those that start meanwhile, until it has met them
// all. A thread that has ended is no error.
func eachThread(f func(tid int) error) error {
	met := map[int]bool{}
	for again := true; again; {
		again = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, thread := range threads {
			tid, err := strconv.Atoi(thread.Name())
			if err != nil || met[tid] {
				continue
			}
			if err := f(tid); err != nil && !errors.Is(err, syscall.ESRCH) {
				return err
			}
			met[tid], again = true, true
		}
	}
	return nil
}
