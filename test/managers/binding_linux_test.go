package managers

import (
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched/topo"
)

// TestBinding: processes that were not bound, by a manager or by the script that has started them, get a share of the
// processors each; what was bound, and what is not to be bound, stays as it is. If they are more than their processors
// their waits yield.
func TestBinding(t *testing.T) {
	all, err := topo.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	usable := slices.Collect(all.All())
	if len(usable) < 2 {
		t.Skip("one processor")
	}
	a, b := fmt.Sprint(usable[0]), fmt.Sprint(usable[1])
	both := topo.CPUs(usable[:2]...).String()
	jobs := map[string]func(t *testing.T, n int, on ...string) *exec.Cmd{"hydra": boundByHydra, "by hand": boundByHand}
	for name, c := range map[string]struct {
		n       int
		on      []string // the processor of each rank; none: its parent's
		env     string
		manners string
		want    []string
	}{
		"shares":               {2, nil, "", "alone", []string{a, b}},
		"more than processors": {3, nil, "", "yields", []string{a, a, b}},
		"more, asked not to":   {3, nil, "PM2_UNBOUND=1", "yields", []string{both, both, both}},
		"asked not to":         {2, nil, "PM2_UNBOUND=1", "alone", []string{both, both}},
		"bound":                {2, []string{b, a}, "", "alone", []string{b, a}},
		"bound, two on one":    {3, []string{b, a, b}, "", "yields", []string{b, "", b}},
	} {
		for by, start := range jobs {
			t.Run(by+"/"+name, func(t *testing.T) {
				job := start(t, c.n, c.on...)
				job.Path, job.Args = "/usr/bin/env", append([]string{"env", "taskset", "-c", a + "," + b}, job.Args...) // what starts them has two processors
				job.Env = append(job.Environ(), c.env)
				status, text := outcome(t, job, time.Minute)
				for rank, cpus := range c.want {
					if want := fmt.Sprintf("rank %d on [%s], %s\n", rank, cpus, c.manners); cpus != "" && !strings.Contains(text, want) {
						t.Errorf("%q is missing", want)
					}
				}
				if status != 0 || t.Failed() {
					t.Errorf("status %d: %s", status, text)
				}
			})
		}
	}
}

func boundByHydra(t *testing.T, n int, on ...string) *exec.Cmd {
	flags := []string{"-n", fmt.Sprint(n)}
	if on != nil {
		flags = append(flags, "-bind-to", "user:"+strings.Join(on, ","))
	}
	return hydra(t, append(flags, self("bound")...)...)
}

// boundByHand is a job that a shell starts.
func boundByHand(t *testing.T, n int, on ...string) *exec.Cmd {
	l, err := net.Listen("tcp", "127.0.0.1:0") // whose port is free a moment later, most likely
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	var script strings.Builder
	fmt.Fprintf(&script, "export PM2_SIZE=%d PM2_RENDEZVOUS=%v PM2_SECRET=%x; ", n, l.Addr(), "a secret of sixteen bytes")
	for rank := range n {
		where := ""
		if on != nil {
			where = "taskset -c " + on[rank] + " "
		}
		fmt.Fprintf(&script, "PM2_RANK=%d %s%s & ", rank, where, strings.Join(self("bound"), " "))
	}
	return exec.Command("sh", "-c", script.String()+"wait")
}

// TestGraceful: processes that the manager asks by SIGTERM to end close their sessions, without an error, in the time
// that it gives them.
func TestGraceful(t *testing.T) {
	j := begin(t, hydra(t, append([]string{"-n", "3"}, self("graceful")...)...), 3)
	for _, pid := range j.pids {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	if status := j.ended(t); status != 0 {
		t.Errorf("status %d: %s", status, j.text)
	}
	if n := strings.Count(j.text.String(), "has closed its session"); n != 3 {
		t.Errorf("%d ranks have closed their sessions: %s", n, j.text)
	}
}
