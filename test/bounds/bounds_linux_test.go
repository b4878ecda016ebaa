package bounds

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
	"github.com/pm2-go/pm2/pioman"
)

var slack = flag.Float64("slack", 3, "by what a bound is multiplied, before a second is added")

// The settings of all jobs here.
const (
	heartbeat = 400 * time.Millisecond
	timeout   = 1500 * time.Millisecond
	linger    = 300 * time.Millisecond
	grace     = 500 * time.Millisecond

	evict  = time.Second            // how long after its loss a peer that may still write into a buffer is ended (nmad/transfer.go)
	debris = 500 * time.Millisecond // for what lies in links that are being made when the news of a death comes (nmad/session_close.go)
	leave  = time.Second            // how long a process that leaves waits until the control connection has taken that (rostrap)
)

const (
	helloTag = 1
	neverTag = 2
	dataTag  = 3
)

// job is a job whose rank 0 is this process.
type job struct {
	t       *testing.T
	launch  *launch.Job
	session *nmad.Session
	config  nmad.Config
	output  chan string // what ranks write to standard output
}

// Write takes a line of a rank's standard output.
func (j *job) Write(b []byte) (int, error) {
	select {
	case j.output <- string(b):
	default:
	}
	return len(b), nil
}

// start starts ranks 1 to n-1 with that role, and opens the session of rank 0 if join.
func start(t *testing.T, driver, role string, n int, beat time.Duration, join bool) *job {
	t.Helper()
	link := nmad.LinkAll
	if role == joins {
		link = nmad.LinkLazy
	}
	j := &job{t: t, output: make(chan string, 8)}
	l, err := launch.Start(launch.Spec{
		N: n, First: 1, Driver: driver, Heartbeat: beat, Unbound: true, Grace: grace, Link: link,
		Env:    []string{roleVariable + "=" + role},
		Stdout: func(int) io.Writer { return j }, Stderr: func(int) io.Writer { return io.Discard },
	})
	if err != nil {
		t.Fatal(err)
	}
	j.launch, j.config = l, l.Config()
	j.config.Linger = linger
	if !join { // else the start, which a busy machine delays, is not what is looked at
		j.config.Timeout = timeout
	}
	j.config.Engine = pioman.New(pioman.Config{Name: t.Name()})
	t.Cleanup(func() {
		l.Kill()
		_ = l.Wait()
		if j.session != nil {
			_ = j.session.Close()
		}
		_ = j.config.Engine.Close()
	})
	if join {
		if j.session, err = nmad.Open(t.Context(), j.config); err != nil {
			t.Fatal(err)
		}
		for rank := 1; rank < n; rank++ {
			if _, err := j.session.Gate(rank).Recv(helloTag, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	return j
}

func (j *job) gate() *nmad.Gate { return j.session.Gate(1) }

func (j *job) stop(sig syscall.Signal) {
	pid := j.launch.PID(1)
	if err := syscall.Kill(pid, sig); err != nil {
		j.t.Fatal(err)
	}
	for sig == syscall.SIGSTOP && !standing(pid) { // until then it may still answer
		time.Sleep(time.Millisecond)
	}
}

// standing says that each thread of the process is stopped, or that the process is gone.
func standing(pid int) bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if i := bytes.LastIndexByte(text, ')'); err == nil && i+2 < len(text) && text[i+2] != 'T' {
			return false
		}
	}
	return true
}

// within calls f, which is to end with an error that is want, not before least and not after most and the slack. The
// end may depend on ten sleepers, one after the other, each of which a busy machine wakes late.
func (j *job) within(least, most time.Duration, want error, f func() error) {
	j.t.Helper()
	began := time.Now()
	late := effort.Lateness()
	defer late()
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	limit := time.Duration(float64(most)**slack) + time.Second
	select {
	case err := <-ended:
		took := time.Since(began)
		j.t.Logf("%v, bound %v: %v", took.Round(time.Millisecond), most, err)
		if limit += 10 * late(); took > limit || took < least {
			j.t.Errorf("it took %v, want %v to %v", took, least, limit)
		}
		if want == nil && err != nil || want != nil && !errors.Is(err, want) {
			j.t.Errorf("it ended with %v, want %v", err, want)
		}
		if lost := (*nmad.PeerError)(nil); want == nmad.ErrPeerLost && (!errors.As(err, &lost) || lost.Rank != 1) {
			j.t.Errorf("%v does not name rank 1", err)
		}
	case <-time.After(limit + 20*time.Second):
		j.t.Fatalf("it has not ended after %v", time.Since(began))
	}
}

// rows are the subtests, by the name of their row in docs/bounds.md.
var rows = map[string]func(t *testing.T, driver string){
	"open-absent": func(t *testing.T, driver string) {
		j := start(t, driver, absent, 2, 0, false)
		j.within(timeout, timeout, context.DeadlineExceeded, j.open)
	},
	"open-context": func(t *testing.T, driver string) {
		j := start(t, driver, absent, 2, 0, false)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		j.within(200*time.Millisecond, 200*time.Millisecond, context.DeadlineExceeded, func() error { return j.openUntil(ctx) })
	},
	"open-strangers": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, false)
		for range 50 {
			if c, err := net.Dial("tcp", j.config.Rendezvous); err == nil {
				defer c.Close()
			}
		}
		j.within(0, timeout, nil, j.open)
	},
	"recv-dead": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		j.stop(syscall.SIGKILL)
		j.within(0, 0, nmad.ErrPeerLost, j.recv)
	},
	"recv-stopped": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, heartbeat, true)
		j.stop(syscall.SIGSTOP)
		j.within(heartbeat*3/4, heartbeat*6/5, nmad.ErrPeerLost, j.recv)
	},
	"recv-orphan": func(t *testing.T, driver string) {
		j := start(t, driver, orphans, 4, heartbeat, true)
		if err := j.session.Close(); err != nil { // this is rank 0
			t.Fatal(err)
		}
		j.session = nil
		j.stop(syscall.SIGSTOP)
		j.within(heartbeat*3/4, heartbeat*18/5, errAny, func() error {
			for range 2 {
				if text := <-j.output; !strings.Contains(text, "lost rank 1") {
					return errors.New(text)
				}
			}
			return errAny
		})
	},
	"recv-silent": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		j.stop(syscall.SIGSTOP)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		j.within(time.Second, time.Second, context.DeadlineExceeded, func() error {
			return j.gate().Irecv(dataTag, nil).WaitContext(ctx)
		})
	},
	"send-dead": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		r := j.gate().Isend(dataTag, make([]byte, 8<<20))
		j.stop(syscall.SIGKILL)
		j.within(0, 0, nmad.ErrPeerLost, r.Wait)
	},
	"send-stopped": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, heartbeat, true)
		j.stop(syscall.SIGSTOP)
		j.within(heartbeat*3/4, heartbeat*6/5+evict, nmad.ErrPeerLost, func() error { return j.gate().Send(dataTag, make([]byte, 8<<20)) })
	},
	"send-short": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		j.stop(syscall.SIGSTOP)
		j.within(0, 0, nil, func() error { return j.gate().Send(dataTag, make([]byte, 64)) })
	},
	"probe-stopped": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, heartbeat, true)
		j.stop(syscall.SIGSTOP)
		j.within(heartbeat*3/4, heartbeat*6/5, nmad.ErrPeerLost, func() error {
			_, err := j.gate().Probe(t.Context(), nmad.Tag(dataTag))
			return err
		})
	},
	"agree-dead": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		j.stop(syscall.SIGKILL)
		j.within(0, 0, nil, j.agree)
	},
	"agree-stopped": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, heartbeat, true)
		j.stop(syscall.SIGSTOP)
		j.within(heartbeat*3/4, heartbeat*6/5, nil, j.agree)
	},
	"agree-silent": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		j.stop(syscall.SIGSTOP)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		j.within(500*time.Millisecond, 500*time.Millisecond, context.DeadlineExceeded, func() error {
			_, err := j.session.Shrink(ctx)
			return err
		})
	},
	"close-dead": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		j.gate().Isend(dataTag, make([]byte, 8<<20))
		j.stop(syscall.SIGKILL)
		j.within(0, 2*linger, nil, j.closeAnyhow)
	},
	"close-stopped": func(t *testing.T, driver string) {
		j := start(t, driver, waits, 2, 0, true)
		j.stop(syscall.SIGSTOP)
		j.gate().Isend(dataTag, make([]byte, 8<<20))
		j.within(0, 2*linger+leave+evict, nil, j.closeAnyhow)
	},
	"open-dead": func(t *testing.T, driver string) {
		j := start(t, driver, first, 3, 0, false)
		j.within(0, 500*time.Millisecond, errAny, func() error {
			time.AfterFunc(500*time.Millisecond, func() { j.stop(syscall.SIGKILL) }) // when it has come, on most machines
			return asAny(j.open())
		})
	},
	"link-dead": func(t *testing.T, driver string) {
		j := start(t, driver, joins, 2, 0, false)
		if err := j.open(); err != nil {
			t.Fatal(err)
		}
		j.stop(syscall.SIGKILL)
		j.within(0, debris, nmad.ErrPeerLost, func() error { return j.gate().Link(t.Context()) })
	},
	"link-stopped": func(t *testing.T, driver string) {
		j := start(t, driver, joins, 2, 0, false)
		if err := j.open(); err != nil {
			t.Fatal(err)
		}
		j.stop(syscall.SIGSTOP)
		j.within(0, timeout, nmad.ErrPeerLost, func() error { return j.gate().Link(t.Context()) })
	},
	"launch-dead": func(t *testing.T, driver string) {
		j := start(t, driver, deaf, 3, 0, false)
		time.Sleep(200 * time.Millisecond) // until they ignore SIGTERM, on most machines
		j.stop(syscall.SIGKILL)
		j.within(0, 2*grace, errAny, func() error { return asAny(j.launch.Wait()) })
	},
	"launch-stopped": func(t *testing.T, driver string) {
		j := start(t, driver, half, 3, heartbeat, false)
		j.stop(syscall.SIGSTOP)
		j.within(heartbeat+grace, heartbeat+grace+heartbeat/2, errAny, func() error { return asAny(j.launch.Wait()) })
	},
	"launch-silent": func(t *testing.T, driver string) {
		j := start(t, driver, half, 3, 0, false)
		j.stop(syscall.SIGSTOP)
		time.AfterFunc(time.Second, j.launch.Kill)
		j.within(time.Second*9/10, time.Second, errAny, func() error { return asAny(j.launch.Wait()) })
	},
	"kill": func(t *testing.T, driver string) {
		j := start(t, driver, deaf, 3, 0, false)
		j.stop(syscall.SIGSTOP)
		j.launch.Kill()
		j.within(0, 0, errAny, func() error { return asAny(j.launch.Wait()) })
	},
}

// perDriver are the rows whose bound the driver has a part in.
var perDriver = map[string]bool{"recv-dead": true, "recv-stopped": true, "send-dead": true, "send-stopped": true, "send-short": true, "close-dead": true, "close-stopped": true, "link-dead": true, "link-stopped": true}

var errAny = errors.New("some error")

// asAny is errAny for any error.
func asAny(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errAny, err)
	}
	return nil
}

func (j *job) open() error { return j.openUntil(j.t.Context()) }

func (j *job) openUntil(ctx context.Context) (err error) {
	j.session, err = nmad.Open(ctx, j.config)
	return err
}

func (j *job) recv() error {
	_, err := j.gate().Recv(dataTag, make([]byte, 1))
	return err
}

// agree agrees with itself that rank 1 is lost.
func (j *job) agree() error {
	x, err := j.session.Agree(j.t.Context(), 5)
	if err == nil && (x.Value != 5 || !slices.Equal(x.Failed, []int{1})) {
		err = fmt.Errorf("agreed on %v", x)
	}
	return err
}

// closeAnyhow closes: that sends had to be given up is no matter here.
func (j *job) closeAnyhow() error {
	_ = j.session.Close()
	return nil
}

func TestBounds(t *testing.T) {
	for name, row := range rows {
		drivers := []string{"shm"}
		if perDriver[name] && !testing.Short() {
			drivers = []string{"shm", "tcp", "unix"}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, driver := range drivers {
				t.Run(driver, func(t *testing.T) {
					t.Parallel()
					row(t, driver)
				})
			}
		})
	}
}

// TestTable: each row of the table has its subtest, and each subtest its row.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/bounds.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		told[m[1]] = true
		if rows[m[1]] == nil {
			t.Errorf("row %s has no test", m[1])
		}
	}
	var untold []string
	for name := range rows {
		if !told[name] {
			untold = append(untold, name)
		}
	}
	if len(untold) > 0 {
		t.Errorf("tests without a row: %s", strings.Join(untold, ", "))
	}
}
