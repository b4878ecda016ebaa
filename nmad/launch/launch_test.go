package launch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel/monitor"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/cpus"
	"github.com/pm2-go/pm2/nmad/internal/process"
	"github.com/pm2-go/pm2/sched/topo"
	"go.uber.org/goleak"
)

// The test program is also the program that is launched: LAUNCH_TEST says what it
// does then.
const modeVariable = "LAUNCH_TEST"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		os.Exit(act(strings.Fields(mode)))
	}
	goleak.VerifyTestMain(m)
}

func act(mode []string) int {
	switch mode[0] {
	case "show":
		mask, _ := topo.Affinity(0)
		before, _ := os.ReadFile("/proc/self/environ")
		c, err := nmad.FromEnvironment()
		again, _ := nmad.FromEnvironment()
		told := os.Getenv(nmad.EnvSecret) + os.Getenv(nmad.EnvSecretFD)
		if err != nil || told != "" || !bytes.Equal(again.Secret, c.Secret) || bytes.Contains(before, []byte(hex.EncodeToString(c.Secret))) {
			fmt.Fprintf(os.Stderr, "the secret: %v, in the environment %q\n", err, told)
			return 1
		}
		fmt.Println(os.Getenv(nmad.EnvRank), os.Getenv(nmad.EnvSize), len(c.Secret), os.Getenv(nmad.EnvSharedCPUs) == "1", mask)
	case "exit": // exit RANK STATUS: that rank fails, the others wait for ever
		if os.Getenv(nmad.EnvRank) == mode[1] {
			n, _ := strconv.Atoi(mode[2])
			return n
		}
		time.Sleep(time.Hour)
	case "sleep":
		fmt.Println("pid", os.Getpid())
		time.Sleep(time.Hour)
	case "litter": // is killed, and leaves a file behind
		if err := os.WriteFile(process.Folder+process.FileName(os.Getpid())+"0:0", nil, 0o600); err != nil {
			return 1
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "leave": // leaves a process of its own behind
		c := exec.Command("sleep", "3600")
		if err := c.Start(); err != nil {
			return 1
		}
		fmt.Println("pid", c.Process.Pid)
	case "join":
		s, err := nmad.Join(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := around(s); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	case "twice": // what a second library of the program hears
		s, err := nmad.Join(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		_, again := nmad.Join(context.Background())
		c, err := nmad.FromEnvironment()
		_, open := nmad.Open(context.Background(), c)
		err = errors.Join(err, around(s)) // closes it
		_, after := nmad.Join(context.Background())
		if err != nil || !errors.Is(again, nmad.ErrJoined) || !errors.Is(open, nmad.ErrJoined) || !errors.Is(after, nmad.ErrJoined) {
			fmt.Fprintln(os.Stderr, err, again, open, after)
			return 1
		}
	case "desert": // desert RANK: joins, and ends without having left; the others close when they know
		s, err := nmad.Join(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if deserter, _ := strconv.Atoi(mode[1]); s.Rank() != deserter {
			if _, err := s.Gate(deserter).Recv(1, nil); !errors.Is(err, nmad.ErrPeerLost) {
				fmt.Fprintln(os.Stderr, err)
			}
			_ = s.Close()
		}
	case "slow": // slow RANK STATUS: its connections end long before it does; the others fail for that
		s, err := nmad.Join(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		culprit, _ := strconv.Atoi(mode[1])
		if s.Rank() == culprit {
			err = syscall.Exec("/bin/sh", []string{"sh", "-c", "sleep 0.3; exit " + mode[2]}, os.Environ())
		} else if _, err = s.Gate(culprit).Recv(1, nil); errors.Is(err, nmad.ErrPeerLost) {
			return 58
		}
		fmt.Fprintln(os.Stderr, err)
	case "last": // all others close; rank 0 ends without having closed, when it knows
		s, err := nmad.Join(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if s.Rank() > 0 {
			_ = s.Close()
			return 0
		}
		for other := 1; other < s.Size(); other++ { // no links: only the control connection tells
			if _, err := s.Gate(other).Recv(1, nil); !errors.Is(err, nmad.ErrPeerLost) {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	case "parent": // launches sleepers, to be killed itself
		j, err := Start(Spec{N: 2, Env: []string{modeVariable + "=sleep"}, Signals: len(mode) > 1, Grace: time.Second})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		interrupt := (*InterruptError)(nil)
		if errors.As(j.Wait(), &interrupt) {
			interrupt.Raise()
		}
		return 1
	}
	return 0
}

// around sends a number once around the ring.
func around(s *nmad.Session) error {
	next, before := s.Gate((s.Rank()+1)%s.Size()), s.Gate((s.Rank()+s.Size()-1)%s.Size())
	buf := []byte{1}
	if s.Rank() == 0 {
		if err := next.Send(1, buf); err != nil {
			return err
		}
	}
	if _, err := before.Recv(1, buf); err != nil {
		return err
	}
	if s.Rank() != 0 {
		buf[0]++
		if err := next.Send(1, buf); err != nil {
			return err
		}
	} else if int(buf[0]) != s.Size() {
		return fmt.Errorf("%d ranks have answered, want %d", buf[0], s.Size())
	}
	return s.Close()
}

// outputs keeps what each rank writes.
type outputs struct {
	mu sync.Mutex
	b  map[int]*bytes.Buffer
}

type written struct {
	o    *outputs
	rank int
}

func (os *outputs) of(rank int) io.Writer { return written{os, rank} }

func (wr written) Write(b []byte) (int, error) {
	wr.o.mu.Lock()
	defer wr.o.mu.Unlock()
	if wr.o.b == nil {
		wr.o.b = map[int]*bytes.Buffer{}
	}
	if wr.o.b[wr.rank] == nil {
		wr.o.b[wr.rank] = &bytes.Buffer{}
	}
	return wr.o.b[wr.rank].Write(b)
}

func (os *outputs) text(rank int) string {
	os.mu.Lock()
	defer os.mu.Unlock()
	if os.b[rank] == nil {
		return ""
	}
	return os.b[rank].String()
}

func TestEnvironmentAndBinding(t *testing.T) {
	all, err := cpus.Usable()
	if err != nil {
		t.Fatal(err)
	}
	before, errBefore := topo.Affinity(0)
	for _, c := range []struct {
		n       int
		unbound string
	}{{1, ""}, {2, ""}, {len(all) + 1, ""}, {2 * len(all), ""}, {2, "1"}, {2 * len(all), "1"}} {
		n := c.n
		t.Run(fmt.Sprint("n=", n, " unbound=", c.unbound), func(t *testing.T) {
			t.Setenv(nmad.EnvUnbound, c.unbound)
			var o outputs
			j, err := Start(Spec{N: n, Env: []string{modeVariable + "=show"}, Stdout: o.of})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Wait(); err != nil {
				t.Fatal(err)
			}
			shared := n > len(all)
			taken := map[int]int{} // how many ranks have a processor
			for rank := range n {
				want := fmt.Sprintf("%d %d 32 %v ", rank, n, shared)
				got := o.text(rank)
				if !strings.HasPrefix(got, want) {
					t.Errorf("rank %d says %q, want %q", rank, got, want)
				}
				mine := j.CPUs(rank)
				if errBefore != nil {
					continue
				}
				if c.unbound != "" {
					if mine != nil {
						t.Errorf("rank %d is bound to %v", rank, mine)
					}
					mine = all
				}
				if want := fmt.Sprintln(topo.CPUs(mine...)); !strings.HasSuffix(got, want) {
					t.Errorf("rank %d says %q, want processors %v: %q", rank, got, mine, want)
				}
				for _, cpu := range mine {
					taken[cpu]++
				}
			}
			for cpu, ranks := range taken {
				if most := (n + len(all) - 1) / len(all); ranks > most && c.unbound == "" {
					t.Errorf("%d ranks have processor %d, want %d at most", ranks, cpu, most)
				}
			}
			if len(taken) < len(all) && errBefore == nil {
				t.Errorf("only the processors %v of %v are used", taken, all)
			}
			if j.shared != shared {
				t.Errorf("shared is %v for %d processes on %d processors", j.shared, n, len(all))
			}
		})
	}
	if after, err := topo.Affinity(0); errBefore == nil && (err != nil || !after.Equal(before)) {
		t.Errorf("our own affinity was %v and is %v", before, after)
	}
}

// TestStatsByRank: what looks at a job finds each rank at a socket of its own, and the launcher at that which was named.
func TestStatsByRank(t *testing.T) {
	t.Setenv(monitor.Environment, "some/path")
	var o outputs
	j, err := Start(Spec{N: 3, Path: "sh", Args: []string{"-c", "env | grep ^" + monitor.Environment}, Stdout: o.of})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		if got, want := o.text(rank), fmt.Sprintf("%s=some/path.%d\n", monitor.Environment, rank); got != want {
			t.Errorf("rank %d has %q, want %q", rank, got, want)
		}
	}
}

// TestUnbindOnce: where binding is forbidden that is said once, and the job runs.
func TestUnbindOnce(t *testing.T) {
	var warned []string
	j := &Job{cpuSets: [][]int{{0}, {1}}, spec: Spec{Warn: func(text string) { warned = append(warned, text) }}}
	j.unbind(syscall.EPERM)
	j.unbind(syscall.EPERM)
	if len(warned) != 1 || j.CPUs(0) != nil {
		t.Errorf("warned of %q, rank 0 is bound to %v; want one warning and no binding", warned, j.CPUs(0))
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		n    int
		want [][]int
	}{
		{[]int{0, 1}, 2, [][]int{{0}, {1}}},
		{[]int{3, 5, 7}, 2, [][]int{{3}, {5, 7}}},
		{[]int{0, 1, 2, 3}, 1, [][]int{{0, 1, 2, 3}}},
		{[]int{0}, 2, [][]int{{0}, {0}}},
		{[]int{0, 2}, 3, [][]int{{0}, {0}, {2}}},
		{[]int{0, 2, 1}, 7, [][]int{{0}, {0}, {0}, {2}, {2}, {1}, {1}}},
		{nil, 2, nil},
	} {
		if got := cpus.Share(c.cpus, c.n); !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("share(%v, %d) = %v, want %v", c.cpus, c.n, got, c.want)
		}
	}
}

func TestJoinAll(t *testing.T) {
	for _, d := range []string{"shm", "tcp", "unix"} {
		t.Run(d, func(t *testing.T) {
			j, err := Start(Spec{N: 3, Driver: d, Env: []string{modeVariable + "=join"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process joins its job once, and hears that at the second time, whichever rank it is.
func TestJoinOnce(t *testing.T) {
	j, err := Start(Spec{N: 2, Env: []string{modeVariable + "=twice"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Error(err)
	}
}

func TestJoinAsRankZero(t *testing.T) {
	for _, d := range []string{"shm", "tcp"} {
		t.Run(d, func(t *testing.T) {
			j, err := Start(Spec{N: 3, First: 1, Driver: d, Env: []string{modeVariable + "=join"}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := nmad.Open(context.Background(), j.Config())
			if err != nil {
				j.Kill()
				t.Error(err)
			} else if err := around(s); err != nil {
				t.Error(err)
			}
			if err := j.Wait(); err != nil {
				t.Error(err)
			}
			if j.PID(0) != 0 || j.PID(1) == 0 || j.PID(9) != 0 {
				t.Errorf("pids %d, %d, %d; want none, one, none", j.PID(0), j.PID(1), j.PID(9))
			}
		})
	}
}

// TestUnclosed: a rank that ends without having left the job, while others are in it, is no success, and neither are
// these ended for that. The last one leaves nothing behind it.
func TestUnclosed(t *testing.T) {
	for _, rank := range []int{0, 2} {
		j, err := Start(Spec{N: 3, Env: []string{fmt.Sprint(modeVariable, "=desert ", rank)}, Grace: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		err = j.Wait()
		if exit := (*ExitError)(nil); !errors.As(err, &exit) || exit.Rank != rank || !exit.Open || exit.Status() != 1 || !strings.Contains(err.Error(), "Session.Close") {
			t.Errorf("rank %d does not close, and the job ends with %v", rank, err)
		}
	}
	j, err := Start(Spec{N: 3, Link: nmad.LinkLazy, Env: []string{modeVariable + "=last"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Errorf("the last rank does not close, and the job ends with %v", err)
	}
}

func TestOneFails(t *testing.T) {
	j, err := Start(Spec{N: 3, Env: []string{modeVariable + "=exit 1 7"}, Grace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	err = j.Wait()
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Rank != 1 || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "status 7") {
		t.Errorf("the job ended with %v, want that rank 1 exited with status 7", err)
	}
	gone(t, j.PID(0), j.PID(1), j.PID(2))
}

// TestCause: the rank that is named is the one for which others have failed, though they have ended first.
func TestCause(t *testing.T) {
	t.Parallel()
	j, err := Start(Spec{N: 3, Env: []string{modeVariable + "=slow 1 7"}})
	if err != nil {
		t.Fatal(err)
	}
	exit := (*ExitError)(nil)
	if err := j.Wait(); !errors.As(err, &exit) || exit.Rank != 1 || exit.Status() != 7 {
		t.Error(err)
	}
}

func TestOneKilled(t *testing.T) {
	j, err := Start(Spec{N: 2, Env: []string{modeVariable + "=exit 9 9"}, Grace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(j.PID(0), syscall.SIGKILL)
	if err := j.Wait(); err == nil || !strings.Contains(err.Error(), "rank 0") || !strings.Contains(err.Error(), "signal 9") {
		t.Errorf("the job ended with %v, want that rank 0 was killed by signal 9", err)
	}
	gone(t, j.PID(0), j.PID(1))
}

func TestLeftBehind(t *testing.T) {
	var o outputs
	j, err := Start(Spec{N: 1, Env: []string{modeVariable + "=leave"}, Stdout: o.of})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(o.text(0), "pid ")))
	if err != nil {
		t.Fatalf("the child says %q", o.text(0))
	}
	gone(t, pid)
}

// TestFilesLeftBehind: when the job is over, no file is left of the memory of a process that was killed.
func TestFilesLeftBehind(t *testing.T) {
	j, err := Start(Spec{N: 1, Env: []string{modeVariable + "=litter"}})
	if err != nil {
		t.Fatal(err)
	}
	file := process.Folder + process.FileName(j.PID(0)) + "0:0"
	defer os.Remove(file)
	if err := j.Wait(); err == nil || !strings.Contains(err.Error(), "signal 9") {
		t.Errorf("the job ended with %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", file, err)
	}
}

// gone waits until no process with these pids runs.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for _, pid := range pids {
		for alive(pid) {
			if time.Now().After(end) {
				t.Fatalf("process %d still runs", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// alive says whether a process runs: a zombie, whose new parent has not reaped it
// yet, does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := strings.TrimSpace(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// parent starts a launching process and returns the pids of its children.
func parent(t *testing.T, mode string) (*exec.Cmd, []int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), modeVariable+"="+mode)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // we are its shell, so that it can be stopped
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	lines := bufio.NewScanner(out)
	for len(pids) < 2 && lines.Scan() {
		pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "pid "))
		if err != nil {
			t.Fatalf("the children say %q", lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) < 2 {
		t.Fatal("the children did not come up")
	}
	return cmd, pids
}

func TestParentKilled(t *testing.T) {
	cmd, pids := parent(t, "parent")
	cmd.Process.Kill()
	cmd.Wait()
	gone(t, pids...)
}

func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd, pids := parent(t, "parent signals")
			cmd.Process.Signal(sig)
			err := cmd.Wait()
			gone(t, pids...)
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != sig {
				t.Errorf("the launcher ended with %v, want that it died of %v", err, sig)
			}
		})
	}
}

func TestWrongSpecs(t *testing.T) {
	for name, spec := range map[string]Spec{
		"no process": {N: 0},
		"first":      {N: 2, First: 2},
		"no program": {N: 2, Path: "/nonexistent/program"},
		"busy port":  {N: 2, Rendezvous: busy(t)},
		"bad port":   {N: 2, Rendezvous: "nowhere"},
	} {
		if j, err := Start(spec); err == nil {
			t.Errorf("%s: was started", name)
			j.Kill()
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error has more than one line: %v", name, err)
		}
	}
}

func busy(t *testing.T) string {
	j, err := Start(Spec{N: 1, First: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Wait() })
	return j.addr
}
