package stress

import (
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/sched/topo"
)

// dumpTasks tells of each OS thread whether it runs: its state, CPUs and policy,
// and what it has used during a second. One that is runnable and uses nothing
// starves; one that sleeps in a futex waits for a wake.
func dumpTasks(w io.Writer) {
	before := map[int]string{}
	for _, tid := range osThreads() {
		before[tid] = used(tid)
	}
	time.Sleep(time.Second)
	for _, tid := range osThreads() {
		mask, _ := topo.Affinity(tid) // an empty one says that it failed
		policy := -1
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil {
			policy = int(attr.Policy)
		}
		fmt.Fprintf(w, "  OS thread %d: state %s, %d CPUs, policy %d, on CPU and waiting for it, in ns, and times on it: %s, then %s\n",
			tid, taskState(tid), mask.Count(), policy, before[tid], used(tid))
	}
}

// used is the text of schedstat.
func used(tid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", tid))
	if err != nil {
		return "gone"
	}
	return strings.TrimSpace(string(text))
}

// taskState is the letter after the name in stat, and where in the kernel it waits.
func taskState(tid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", tid))
	if err != nil {
		return "gone"
	}
	state := "?"
	if _, after, ok := strings.Cut(string(text), ") "); ok {
		state = after[:1]
	}
	where, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/wchan", tid)) // only a help
	return state + " " + string(where)
}

// A starvation tells, look by look, whether the kernel keeps an OS thread of this
// process waiting for a CPU: one that was ready at the last look, is ready now, and
// has not run meanwhile. What waits for such a thread is late and not stuck: beside
// other programs, a process of low weight can be kept waiting for a minute.
type starvation map[int]string // what the threads that were ready had used

func (s starvation) look() bool {
	starves := false
	was := maps.Clone(s)
	clear(s)
	for _, tid := range osThreads() {
		if !strings.HasPrefix(taskState(tid), "R") {
			continue
		}
		s[tid] = used(tid)
		starves = starves || s[tid] == was[tid]
	}
	return starves
}
