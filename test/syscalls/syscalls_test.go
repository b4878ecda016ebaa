//go:build linux && !race

package syscalls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// operation does what is counted n times, in a thread, on the only VP.
type operation struct {
	name  string
	calls int // of the system, a round
	run   func(n int)
}

// rounds is how often the operation is done while it is counted.
func (o operation) rounds() int {
	if o.calls > 0 {
		return 10_000 // the tracer stops the thread twice for each call
	}
	return 100_000
}

var operations = []operation{
	{"one system call", 1, func(n int) { // shows that calls are counted
		for range n {
			unix.Getppid()
		}
	}},
	{"yield", 0, func(n int) {
		other := marcel.Spawn(func() {
			for range n {
				marcel.Yield()
			}
		})
		for range n {
			marcel.Yield()
		}
		_ = other.Join()
	}},
	{"spawn and join", 0, func(n int) {
		for range n {
			_ = marcel.Spawn(func() {}).Join()
		}
	}},
	{"spawn many, join many", 0, func(n int) {
		all := make([]marcel.Thread, 100)
		for range n / len(all) {
			for i := range all {
				all[i] = marcel.Spawn(func() {})
			}
			for _, t := range all {
				_ = t.Join()
			}
		}
	}},
	{"do", 0, func(n int) {
		for range n {
			marcel.Do(func() {}, func() {})
		}
	}},
	{"wake by semaphore", 0, func(n int) {
		there, back := marcel.NewSemaphore(0), marcel.NewSemaphore(0)
		other := marcel.Spawn(func() {
			for range n {
				there.Acquire()
				back.Release()
			}
		})
		for range n {
			there.Release()
			back.Acquire()
		}
		_ = other.Join()
	}},
}

// TestNoSystemCalls: none of the operations but the first makes a system call.
func TestNoSystemCalls(t *testing.T) {
	counts, err := trace("TestTraced")
	if errors.Is(err, errNotAllowed) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) != len(operations) {
		t.Fatalf("%d operations were traced, not %d", len(counts), len(operations))
	}
	for i, o := range operations {
		n, c := o.rounds(), counts[i]
		t.Logf("%s: %d system calls in %d rounds, %v", o.name, c.calls, n, c.took)
		// The Go runtime and the clock stop a thread at most once in a millisecond, to preempt it or to
		// collect; the thread then returns from the signal by a call, and may sleep.
		few := n/100 + 4*int(c.took.Milliseconds())
		if want := o.calls * n; c.calls < want || c.calls > want+few {
			t.Errorf("%s: %d system calls in %d rounds, not %d to %d", o.name, c.calls, n, want, want+few)
		}
	}
}

const envTraced = "PM2_TEST_TRACED"

// TestTraced performs the operations for TestNoSystemCalls, in a process of its own: each between
// two signals by which the tracer knows the OS thread.
func TestTraced(t *testing.T) {
	if os.Getenv(envTraced) == "" {
		t.Skip("it is run by TestNoSystemCalls")
	}
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operations {
		_ = s.Spawn(sched.Attr{}, func() {
			o.run(o.rounds() / 10) // it warms up
			_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGUSR1)
			o.run(o.rounds())
			_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGUSR2)
		}).Join()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

// errNotAllowed: a process may not be traced here.
var errNotAllowed = errors.New("tracing a process is not allowed here")

// count is of the calls that an OS thread begins between two signals, and of the time between them.
type count struct {
	calls int
	took  time.Duration
}

// trace runs one test of this program in a traced process. It returns a count for each time at which
// an OS thread of it is sent SIGUSR1, up to SIGUSR2.
func trace(test string) (counts []count, err error) {
	runtime.LockOSThread() // the tracer is one OS thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), envTraced+"=1")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	cmd.Stdout, cmd.Stderr = null, null // no goroutine of ours is to copy
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotAllowed, err)
	}
	pid := cmd.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return nil, err
	}
	if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("%w: %w", errNotAllowed, err)
	}
	counting, inside := 0, false // the OS thread, and whether it is between entry and exit
	var began time.Time
	if err := unix.PtraceSyscall(pid, 0); err != nil {
		return nil, err
	}
	for {
		tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if status.Exited() || status.Signaled() {
			if tid != pid {
				continue
			}
			if status.Signaled() || status.ExitStatus() != 0 {
				return nil, fmt.Errorf("the traced process has ended with %v", status)
			}
			return counts, nil
		}
		pass := 0
		switch sig := status.StopSignal(); {
		case sig == unix.SIGTRAP|0x80:
			if tid == counting {
				if inside = !inside; inside {
					counts[len(counts)-1].calls++
				}
			}
		case sig == unix.SIGUSR1: // the thread is still in the call that has sent it, whose exit is passed by now or not
			counts, counting, inside = append(counts, count{}), tid, false
			began = time.Now()
		case sig == unix.SIGUSR2:
			counting = 0
			last := &counts[len(counts)-1]
			last.calls-- // the call that has sent it
			last.took = time.Since(began)
		case sig == unix.SIGTRAP || sig == unix.SIGSTOP: // a new thread
		default:
			pass = int(sig)
		}
		if err := unix.PtraceSyscall(tid, pass); err != nil && !errors.Is(err, unix.ESRCH) {
			return nil, err
		}
	}
}
