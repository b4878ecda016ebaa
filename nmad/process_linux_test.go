package nmad_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/internal/test/orphans"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// Tests with real processes: this program starts itself, and NMAD_TEST tells it
// what to be.
const modeVariable = "NMAD_TEST"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		if err := act(strings.Fields(mode)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	effort.Together(8)
	os.Exit(m.Run())
}

// The ways to call that differ most, for tests that go through few.
var (
	explicit = caller.Way{Caller: caller.Goroutine, Engine: caller.Explicit}.String()
	hooked   = caller.Way{Caller: caller.Thread, Engine: caller.Default}.String()
)

// waysOver lists the ways to call that a test over a network goes through: over shared memory all of them, or, in short,
// the most different ones; over others fewer.
func waysOver(network string, long bool) (ways []string) {
	ways = []string{explicit, hooked, caller.Way{Caller: caller.Goroutine, Engine: caller.None}.String()}
	switch {
	case network != "shm":
		return ways
	case !long:
		return append(ways, caller.Way{Caller: caller.Locked, Engine: caller.Default}.String(), caller.Way{Caller: caller.Thread, Engine: caller.Own}.String())
	}
	ways = nil
	for _, w := range caller.Ways() {
		ways = append(ways, w.String())
	}
	return ways
}

// callers starts further callers of the kind that the process is told to be.
var callers *caller.Spawner

// act runs a process of a test: WAY WHAT ARGUMENTS.
func act(mode []string) error {
	way, err := caller.Parse(mode[0])
	if err != nil {
		return err
	}
	f := func() { err = errors.New("what is " + mode[1] + "?") }
	switch mode[1] {
	case "victim":
		f = func() { err = phase(mode[2], number(mode[3])) }
	case "paused":
		f = func() { err = paused(mode[2]) }
	case "lender":
		f = func() { err = lender(number(mode[2])) }
	case "idle":
		f = func() { err = idle() }
	case "mixed":
		f = func() { err = mixed(number(mode[2]), number(mode[3])) }
	case "agree":
		f = func() { err = agreeing(number(mode[2])) }
	case "pingpong":
		f = func() { err = pingpong(number(mode[2]), number(mode[3])) }
	case "stall":
		f = func() { err = stalling(time.Duration(number(mode[2])) * time.Millisecond) }
	case "exchange":
		f = func() { err = exchangeRequests(mode[2], number(mode[3]), number(mode[4])) }
	}
	failed := way.Run(func(s *caller.Spawner) {
		callers = s
		f()
	})
	return errors.Join(err, failed)
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// phase works with the victim until it is lost, says so, and then makes sure
// that the others are still there.
func phase(name string, victim int) error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	if s.Rank() == victim {
		return suffer(s, name)
	}
	lost := exchangeUntilLost(s.Gate(victim), name)
	var peer *nmad.PeerError
	if !errors.Is(lost, nmad.ErrPeerLost) || !errors.As(lost, &peer) || peer.Rank != victim {
		return fmt.Errorf("rank %d lost its peer with: %w", s.Rank(), lost)
	}
	fmt.Println("lost", time.Now().UnixNano())
	other := s.Gate(3 - victim - s.Rank())
	r := other.Isend(99, []byte{42})
	buf := make([]byte, 1)
	if _, err := other.Recv(99, buf); err != nil || buf[0] != 42 {
		return fmt.Errorf("rank %d cannot go on with the other survivor: %w", s.Rank(), err)
	}
	if err := r.Wait(); err != nil {
		return err
	}
	err = s.Close()
	fmt.Println("closed", time.Now().UnixNano())
	return err
}

// large is longer than what any driver buffers.
const large = 8 << 20

// exchangeUntilLost is what a survivor does with the victim in each phase.
func exchangeUntilLost(g *nmad.Gate, name string) error {
	size := 64
	if name == "rendezvous" {
		size = large
	}
	buf := make([]byte, size)
	fmt.Println("ready", 0)
	if name == "idle" {
		_, err := g.Recv(7, buf)
		return err
	}
	for {
		if err := g.Send(1, buf); err != nil {
			return err
		}
		if _, err := g.Recv(1, buf); err != nil {
			return err
		}
	}
}

// suffer is the victim's part: it answers both others until it is killed.
func suffer(s *nmad.Session, name string) error {
	fmt.Println("ready", 0)
	if name == "idle" {
		marcel.Blocking(func() { time.Sleep(time.Hour) })
	}
	size := 64
	if name == "rendezvous" {
		size = large
	}
	var waits []func()
	for rank := range s.Size() {
		if rank == s.Rank() {
			continue
		}
		waits = append(waits, callers.Go(func() {
			buf := make([]byte, size)
			g := s.Gate(rank)
			for {
				if _, err := g.Recv(1, buf); err != nil {
					return
				}
				if err := g.Send(1, buf); err != nil {
					return
				}
			}
		}))
	}
	for _, wait := range waits {
		wait()
	}
	return errors.New("the victim was not killed")
}

// reports collects the lines of all ranks, each of the form "what number".
type reports struct {
	mu    sync.Mutex
	lines []report
	come  chan struct{} // has room for all lines of a test
}

type report struct {
	rank int
	what string
	when int64
}

func newReports() *reports { return &reports{come: make(chan struct{}, 1000)} }

func (rep *reports) of(rank int) io.Writer { return &reporter{r: rep, rank: rank} }

// reporter cuts what one rank writes into lines.
type reporter struct {
	r    *reports
	rank int
	rest []byte
}

func (rep *reporter) Write(b []byte) (int, error) {
	rep.rest = append(rep.rest, b...)
	for {
		line, rest, whole := bytes.Cut(rep.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		rep.rest = rest
		what, when, _ := strings.Cut(string(line), " ")
		n, _ := strconv.ParseInt(when, 10, 64)
		rep.r.mu.Lock()
		rep.r.lines = append(rep.r.lines, report{rep.rank, what, n})
		rep.r.mu.Unlock()
		rep.r.come <- struct{}{}
	}
}

func (rep *reports) count(what string) (n int, last int64) {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	for _, l := range rep.lines {
		if l.what == what {
			n++
			last = max(last, l.when)
		}
	}
	return n, last
}

// await waits for n reports of a kind, until the job is over.
func (rep *reports) await(j *launch.Job, what string, n int) error {
	for {
		if have, _ := rep.count(what); have >= n {
			return nil
		}
		select {
		case <-rep.come:
		case <-j.Done():
			return fmt.Errorf("the job ended before %d ranks said %q", n, what)
		}
	}
}

// TestStopped stops one of three processes, whose connections then stand but say
// nothing: with a heartbeat the two others lose it, go on with each other, and close, even if
// it was just writing into their memory.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the silence of a heartbeat")
	}
	t.Parallel()
	for _, c := range []struct {
		driver, engine, phase string
		victim                int
	}{{"shm", hooked, "idle", 1}, {"shm", explicit, "rendezvous", 1}, {"shm", hooked, "rendezvous", 2}, {"tcp", explicit, "rendezvous", 0}, {"unix", explicit, "eager", 1}} {
		t.Run(fmt.Sprintf("%s/%s/%s/%d", c.driver, c.engine, c.phase, c.victim), func(t *testing.T) {
			t.Parallel()
			const heartbeat = 5 * time.Second
			late := effort.Lateness()
			defer late()
			fatal := func(why error) {
				if d := late(); d > heartbeat/4 {
					t.Skipf("ranks that live may be lost: this machine wakes a sleeper %v late: %v", d, why)
				}
				t.Fatal(why)
			}
			r := newReports()
			j, err := launch.Start(launch.Spec{
				N: 3, Driver: c.driver, Heartbeat: heartbeat, Stdout: r.of, Grace: 30 * time.Second,
				Env: []string{fmt.Sprintf("%s=%s victim %s %d", modeVariable, c.engine, c.phase, c.victim), "PM2_SHM_COPY=single"},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Kill()
			if err := r.await(j, "ready", 3); err != nil {
				t.Fatal(errors.Join(err, j.Wait()))
			}
			began := time.Now()
			if err := syscall.Kill(j.PID(c.victim), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if err := r.await(j, "lost", 2); err != nil {
				fatal(errors.Join(err, j.Wait()))
			}
			_, last := r.count("lost")
			t.Logf("noticed after %v, with a heartbeat of %v", time.Unix(0, last).Sub(began), heartbeat)
			if err := r.await(j, "closed", 2); err != nil {
				fatal(errors.Join(err, j.Wait()))
			}
			_ = syscall.Kill(j.PID(c.victim), syscall.SIGKILL)
			if err := j.Wait(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("rank ", c.victim)) || !strings.Contains(err.Error(), "signal 9") {
				fatal(fmt.Errorf("the job ended with %v, want that only rank %d was killed", err, c.victim))
			}
		})
	}
}

// clocked is what the ranks of TestStoppedJob allow each other, and longStop more than it: a busy machine is far
// from the one, and a clock that goes on over the other has run out.
const (
	clocked  = 6 * time.Second
	longStop = clocked + clocked/4
)

// TestStoppedJob stops all processes of a job for longer than they wait for each other, while the job starts and while it
// runs: it loses no rank.
func TestStoppedJob(t *testing.T) {
	if !effort.Long() {
		t.Skip("it stops for twice longer than a heartbeat: with -long")
	}
	t.Parallel()
	dir := t.TempDir()
	r := newReports()
	j, err := launch.Start(launch.Spec{
		N: 3, Driver: "tcp", Heartbeat: clocked, Stdout: r.of,
		Env: []string{fmt.Sprintf("%s=%s paused %s", modeVariable, explicit, dir)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Kill()
	late := effort.Lateness()
	defer late()
	for _, phase := range []string{"joining", "joined"} {
		if err := r.await(j, phase, 3); err != nil {
			t.Fatal(errors.Join(err, j.Wait()))
		}
		j.Signal(syscall.SIGSTOP)
		time.Sleep(longStop) // the stop itself
		j.Signal(syscall.SIGCONT)
		if err := os.WriteFile(filepath.Join(dir, phase), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Wait(); err != nil {
		if d := late(); d > clocked/4 {
			t.Skipf("ranks that live may be lost: this machine wakes a sleeper %v late: %v", d, err)
		}
		t.Error(err)
	}
}

// paused is a rank of TestStoppedJob. The last one joins only when the first stop is over; after the second one the job
// goes on for as long as it takes to miss one.
func paused(dir string) error {
	over := func(phase string) bool {
		_, err := os.Stat(filepath.Join(dir, phase))
		return err == nil
	}
	c, err := nmad.FromEnvironment()
	if err != nil {
		return err
	}
	c.Timeout = clocked
	fmt.Println("joining", 0)
	for c.Rank == 2 && !over("joining") {
		time.Sleep(time.Millisecond)
	}
	s, err := nmad.Open(context.Background(), c)
	if err != nil {
		return err
	}
	fmt.Println("joined", 0)
	word := []byte{1} // 0: the last one
	for rest := 50; word[0] != 0; {
		if s.Rank() == 0 {
			time.Sleep(10 * time.Millisecond)
			if over("joined") {
				if rest--; rest == 0 {
					word[0] = 0
				}
			}
			for peer := 1; peer < s.Size(); peer++ {
				if err := s.Gate(peer).Send(1, word); err != nil {
					return err
				}
				if _, err := s.Gate(peer).Recv(1, word); err != nil {
					return err
				}
			}
			continue
		}
		if _, err := s.Gate(0).Recv(1, word); err != nil {
			return err
		}
		if err := s.Gate(0).Send(1, word); err != nil {
			return err
		}
	}
	return s.Close()
}

// TestKilled kills one of three processes, by SIGKILL, in the middle of what it does.
// The two others must hear of it soon, and go on with each other.
func TestKilled(t *testing.T) {
	for _, d := range []string{"shm", "tcp", "unix"} {
		for _, engine := range []string{explicit, hooked} {
			if d == "unix" && (testing.Short() || engine == hooked) {
				continue // its links are made as those of tcp
			}
			for _, phase := range []string{"idle", "eager", "rendezvous"} {
				for _, victim := range []int{0, 1} { // 1 dials and accepts, 0 relays the news
					if victim == 0 && testing.Short() {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%d", d, engine, phase, victim), func(t *testing.T) { kill(t, d, engine, phase, victim) })
				}
			}
		}
	}
}

// ended waits until the last thread of a killed process is through with the kernel,
// which on a busy machine takes its time: before, no process can know.
func ended(t *testing.T, pid int) time.Time {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return time.Now() // reaped already
	}
	defer unix.Close(fd)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err == nil {
			return time.Now()
		}
		if err != unix.EINTR {
			t.Fatal(err)
		}
	}
}

func kill(t *testing.T, d, engine, phase string, victim int) {
	r := newReports()
	j, err := launch.Start(launch.Spec{
		N: 3, Driver: d, Env: []string{fmt.Sprintf("%s=%s victim %s %d", modeVariable, engine, phase, victim)}, Stdout: r.of, Grace: 30 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Kill()
	if err := r.await(j, "ready", 3); err != nil {
		t.Fatal(errors.Join(err, j.Wait()))
	}
	time.Sleep(30 * time.Millisecond) // into the middle
	late := effort.Lateness()
	if err := syscall.Kill(j.PID(victim), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began := ended(t, j.PID(victim)).UnixNano()
	err = j.Wait()
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint("rank ", victim)) || !strings.Contains(err.Error(), "signal 9") {
		t.Errorf("the job ended with %v, want that rank %d was killed", err, victim)
	}
	n, last := r.count("lost")
	if n != 2 {
		t.Fatalf("%d survivors have noticed, want 2", n)
	}
	took, slack := time.Duration(last-began), late()
	t.Logf("noticed after %v (a sleeper here comes up to %v late)", took, slack)
	if took > 20*time.Second+slack { // two seconds on a machine that has time
		t.Errorf("the survivors noticed after %v", took)
	}
	if left := orphans.Files(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
