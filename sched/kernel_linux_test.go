package sched_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// nap sleeps in the kernel, without Go knowing that it waits.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

func osThreads(t testing.TB) int {
	t.Helper()
	e, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(e)
}

// A kernelLatch is what threads wait for in the kernel, until it is opened.
type kernelLatch struct{ r, w int }

func newKernelLatch(t testing.TB) *kernelLatch {
	t.Helper()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(p[0]) })
	return &kernelLatch{p[0], p[1]}
}

func (kl *kernelLatch) wait() {
	var b [1]byte
	for {
		if _, err := unix.Read(kl.r, b[:]); err != unix.EINTR {
			return
		}
	}
}

func (kl *kernelLatch) open() { _ = unix.Close(kl.w) }

// TestKernelSlices: an OS thread that holds a VP has a short kernel slice, unless the
// configuration says no.
func TestKernelSlices(t *testing.T) {
	if !sched.IsDirect {
		t.Skip("OS threads are the Go scheduler's in the portable mode")
	}
	slice := func(no bool) (ns uint64) {
		s := start(t, sched.Config{VPs: 1, NoKernelSlices: no})
		marcel.RunOn(s, func() {
			if attr, err := unix.SchedGetAttr(0, 0); err == nil {
				ns = attr.Runtime
			}
		})
		return ns
	}
	with, without := slice(false), slice(true)
	if with == 0 {
		t.Skip("this kernel does not tell slices")
	}
	if with != 100_000 || without == with {
		t.Errorf("slices of %d ns, %d ns without", with, without)
	}
}
