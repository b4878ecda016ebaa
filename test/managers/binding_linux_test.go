package managers

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/sched/topo"
)

// TestBinding: processes that the manager has not bound get a share of the processors each; what it has bound, and what is not to be bound, stays as it is.
func TestBinding(t *testing.T) {
	all, err := topo.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Collect(all.All())
	if len(first) < 2 {
		t.Skip("one processor")
	}
	two := []string{"taskset", "-c", fmt.Sprintf("%d,%d", first[0], first[1])} // the manager has two processors
	shared := []string{fmt.Sprintf("rank 0 on [%d]\n", first[0]), fmt.Sprintf("rank 1 on [%d]\n", first[0]), fmt.Sprintf("rank 2 on [%d]\n", first[1])}
	each := []string{fmt.Sprintf("rank 0 on [%d]\n", first[0]), fmt.Sprintf("rank 1 on [%d]\n", first[1])}
	list := fmt.Sprintf("%d,%d", first[0], first[1])
	if first[1] == first[0]+1 {
		list = fmt.Sprintf("%d-%d", first[0], first[1])
	}
	both := []string{fmt.Sprintf("rank 0 on [%s]\n", list), fmt.Sprintf("rank 1 on [%s]\n", list)}
	for name, c := range map[string]struct {
		flags []string
		env   string
		want  []string
	}{
		"shares":               {[]string{"-n", "2"}, "", each},
		"more than processors": {[]string{"-n", "3"}, "", shared},
		"more, asked not to":   {[]string{"-n", "3"}, "PM2_UNBOUND=1", both},
		"asked not to":         {[]string{"-n", "2"}, "PM2_UNBOUND=1", both},
		"bound by the manager": {[]string{"-bind-to", "user:" + fmt.Sprint(first[1]) + "," + fmt.Sprint(first[0]), "-n", "2"}, "",
			[]string{fmt.Sprintf("rank 0 on [%d]\n", first[1]), fmt.Sprintf("rank 1 on [%d]\n", first[0])}},
	} {
		t.Run(name, func(t *testing.T) {
			job := hydra(t, append(c.flags, self("bound")...)...)
			job.Path, job.Args = "/usr/bin/env", append([]string{"env"}, append(two, job.Args...)...)
			job.Env = append(os.Environ(), c.env)
			status, text := outcome(t, job, time.Minute)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if status != 0 || t.Failed() {
				t.Errorf("status %d: %s", status, text)
			}
		})
	}
}

// TestGraceful: processes that the manager asks by SIGTERM to end close their sessions, without an error, in the time that it gives them.
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
