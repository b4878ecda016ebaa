package sched_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

const classVariable = "PM2_TEST_CLASS"

// A class that the process was given from outside is that of all its OS threads, also of LWPs that block, sleep and are woken.
func TestClassFromOutsideIsKept(t *testing.T) {
	if text := os.Getenv(classVariable); text != "" {
		keepsClass(t, text)
		return
	}
	for name, attr := range map[string]unix.SchedAttr{
		"SCHED_OTHER": {Policy: unix.SCHED_NORMAL},
		"SCHED_BATCH": {Policy: unix.SCHED_BATCH},
		"SCHED_IDLE":  {Policy: unix.SCHED_IDLE},
		"SCHED_FIFO":  {Policy: unix.SCHED_FIFO, Priority: 1},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "SCHED_IDLE" && !effort.Long() {
				t.Skip("a busy machine lets it wait: with -long only")
			}
			var out []byte
			var err error
			done := make(chan struct{})
			go func() { // on a thread that ends with the goroutine
				defer close(done)
				runtime.LockOSThread()
				attr.Size = unix.SizeofSchedAttr
				if err = unix.SchedSetAttr(0, &attr, 0); err != nil {
					return
				}
				c := exec.Command(os.Args[0], "-test.run=^TestClassFromOutsideIsKept$")
				c.Env = append(os.Environ(), classVariable+"="+strconv.Itoa(int(attr.Policy)))
				out, err = c.CombinedOutput()
			}()
			<-done
			if errors.Is(err, unix.EPERM) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

// keepsClass is the process that was given the class.
func keepsClass(t *testing.T, text string) {
	want, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sched.New(sched.Config{VPs: 2})
	if err != nil {
		t.Fatal(err)
	}
	look := func() {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Error(err)
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			policy := int(kernel.Policy(tid))
			if policy == want || want == unix.SCHED_NORMAL && policy == unix.SCHED_BATCH { // a spare LWP that sleeps
				continue
			}
			comm, err := os.ReadFile("/proc/self/task/" + task.Name() + "/comm")
			if err == nil { // it lives
				t.Errorf("thread %d (%s) has policy %d, the process %d", tid, strings.TrimSpace(string(comm)), policy, want)
			}
		}
	}
	marcel.RunOn(s, func() {
		for range 5 {
			var all []marcel.Thread
			for range 4 {
				all = append(all, marcel.Spawn(func() {
					marcel.Blocking(func() { time.Sleep(time.Millisecond) })
					marcel.Sleep(time.Millisecond)
				}))
			}
			look()
			for _, x := range all {
				_ = x.Join()
			}
		}
	})
	look()
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	look()
}
