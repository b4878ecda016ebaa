package callers

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// A cgroup with a quota of half a CPU.
const (
	period = 100_000 // us
	quota  = period / 2
)

// groupVariable names the cgroup that a process is to be in, movedVariable says that it is.
const (
	groupVariable = "PM2_TEST_CALLERS_GROUP"
	movedVariable = "PM2_TEST_CALLERS_MOVED"
)

// group makes a cgroup with the quota for the time of the test.
func group(t *testing.T) (path string) {
	t.Helper()
	set := func(values map[string]string) error {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
		t.Cleanup(func() {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		})
		for name, text := range values {
			if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	one, two, err := cpuGroups()
	if err != nil {
		t.Skip(err)
	}
	name := fmt.Sprintf("pm2-test-%d", os.Getpid())
	if one != "" {
		path = filepath.Join(one, name)
		err = set(map[string]string{"cpu.cfs_period_us": strconv.Itoa(period), "cpu.cfs_quota_us": strconv.Itoa(quota)})
	} else {
		path = filepath.Join(two, name)
		err = set(map[string]string{"cpu.max": fmt.Sprint(quota, " ", period)})
	}
	if err != nil {
		t.Skipf("no cgroup with a quota of CPU time can be made: %v", err)
	}
	return path
}

// cpuGroups is where the controller of CPU time is mounted: of version 1, or of 2.
func cpuGroups() (one, two string, err error) {
	f, err := os.Open("/proc/mounts")
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch m := strings.Fields(lines.Text()); {
		case len(m) < 4:
		case m[2] == "cgroup" && strings.Contains(","+m[3]+",", ",cpu,"):
			return m[1], "", nil
		case m[2] == "cgroup2":
			on, _ := os.ReadFile(filepath.Join(m[1], "cgroup.subtree_control"))
			if strings.Contains(" "+string(on), "cpu ") || strings.HasSuffix(strings.TrimSpace(string(on)), "cpu") {
				two = m[1]
			}
		}
	}
	if two == "" {
		return "", "", errors.New("no controller of CPU time is mounted")
	}
	return "", two, nil
}

// enter moves this process into the cgroup that it is to be in. It starts anew there, as a program does that a
// container starts.
func enter() error {
	path := os.Getenv(groupVariable)
	if path == "" || os.Getenv(movedVariable) != "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(path, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), movedVariable+"=1"))
}

// TestQuota: where a quota is shared by one that computes and many that wait, those that wait leave it to the other
// one: the first of them polls for a short time only, and the rest not at all.
func TestQuota(t *testing.T) {
	for _, way := range ways(effort.Long()) {
		t.Run(way.String(), func(t *testing.T) {
			run(t, "quota", way, max(effort.Of(40), 8), launch.Spec{Env: []string{groupVariable + "=" + group(t)}})
		})
	}
}

const (
	// work is how much CPU time rank 0 takes between two messages at least: several times what a waiter polls for.
	work = 8 * time.Millisecond
	// handling is how many times what its messages cost rank 0 it computes between them, so that on a slow machine, or
	// under the race detector, what counts is still what those that wait do meanwhile.
	handling = 4
	// many is how many wait.
	many = 32
)

// underQuota: rank 0 computes, and then sends to one of those that wait. Rank 1 says in the end what its callers have
// used.
func underQuota(session *nmad.Session, s *caller.Spawner, rounds int) error {
	g := session.Gate(1 - session.Rank())
	var waits []func()
	errs := make([]error, many)
	if session.Rank() == 1 {
		for i := range uint64(many) {
			waits = append(waits, s.Go(func() { errs[i] = answer(g, waiterTag+i, rounds) }))
		}
	}
	if err := together(g, session.Rank() == 0, 0); err != nil {
		return err
	}
	before := used()
	if session.Rank() == 1 {
		for _, wait := range waits {
			wait()
		}
		return errors.Join(errors.Join(errs...), g.Send(controlTag, word(uint64(used()-before))))
	}
	compute := work
	for i := range uint64(rounds) {
		for from := used(); used()-from < compute; {
		}
		computed := used()
		for k := range uint64(many) {
			if err := g.Send(waiterTag+k, word(i)); err != nil {
				return err
			}
		}
		for k := range uint64(many) {
			if err := expect(g, waiterTag+k, i); err != nil {
				return err
			}
		}
		compute = max(compute, handling*(used()-computed))
	}
	var b [8]byte
	if _, err := g.Recv(controlTag, b[:]); err != nil {
		return err
	}
	ours, theirs := used()-before, time.Duration(get(b[:]))
	fmt.Printf("%v to compute, %v to wait\n", ours, theirs)
	if theirs > ours*2/3 {
		return fmt.Errorf("%d callers that wait took %v of CPU time, and what computes %v", many, theirs, ours)
	}
	return nil
}

// used is the CPU time of this process.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
