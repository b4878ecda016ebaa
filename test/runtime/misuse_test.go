package runtime_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/direct"
)

func stop(t *testing.T, s *sched.Scheduler) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// TestLocks: threads that lock their OS thread, unlock it once too often, or leave it locked,
// harm neither themselves nor those that come after them.
func TestLocks(t *testing.T) {
	misdeeds := map[string]func(){
		"one unlock too many": runtime.UnlockOSThread,
		"three unlocks too many": func() {
			for range 3 {
				runtime.UnlockOSThread()
			}
		},
		"locked, and left so":         runtime.LockOSThread,
		"locked twice, and left so":   func() { runtime.LockOSThread(); runtime.LockOSThread() },
		"locked, and switched":        func() { runtime.LockOSThread(); marcel.Yield(); runtime.UnlockOSThread() },
		"unlocked, then locked twice": func() { runtime.UnlockOSThread(); runtime.LockOSThread(); runtime.LockOSThread() },
		"locked, Goexit":              func() { runtime.LockOSThread(); runtime.Goexit() },
		"unlocked, Goexit":            func() { runtime.UnlockOSThread(); runtime.Goexit() },
		"locked, waits in Go": func() {
			runtime.LockOSThread()
			time.Sleep(2 * time.Millisecond)
			runtime.UnlockOSThread()
		},
		"unlocked, waits in Go": func() {
			runtime.UnlockOSThread()
			time.Sleep(2 * time.Millisecond)
		},
	}
	for name, misdeed := range misdeeds {
		t.Run(name, func(t *testing.T) {
			s, err := sched.New(sched.Config{VPs: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer stop(t, s)
			marcel.RunOn(s, func() {
				for range 20 {
					other := marcel.Spawn(func() { marcel.Yield() })
					bad := marcel.Spawn(func() {
						misdeed()
						for range 3 {
							marcel.Yield()
						}
						marcel.Sleep(10 * time.Microsecond)
					})
					if err := bad.Join(); err != nil {
						t.Error(err)
					}
					if err := other.Join(); err != nil {
						t.Error(err)
					}
					next := marcel.Spawn(func() {
						if n := direct.Locks(); n != direct.Held {
							t.Errorf("the next thread finds its OS thread locked %d times, want %d, of the scheduler alone", n, direct.Held)
						}
						marcel.Yield()
					})
					if err := next.Join(); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// TestLeftovers: what a thread leaves on its goroutine does not reach the next one.
func TestLeftovers(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	marcel.RunOn(s, func() {
		for range 20 {
			for _, leave := range []func(){
				func() {
					pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("leftover", "yes")))
					marcel.Yield()
				},
				func() { debug.SetPanicOnFault(true); marcel.Yield() },
				func() {
					pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("leftover", "yes")))
					debug.SetPanicOnFault(true)
					time.Sleep(time.Millisecond)
				},
			} {
				_ = marcel.Spawn(leave).Join()
				_ = marcel.Spawn(func() {
					if debug.SetPanicOnFault(false) {
						t.Error("the next thread panics on faults")
					}
					var b bytes.Buffer
					if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
						t.Error(err)
					}
					for stack := range strings.SplitSeq(b.String(), "\n\n") { // the goroutine that has them may still be about to end
						if strings.Contains(stack, "TestLeftovers") && strings.Contains(stack, "leftover") {
							t.Errorf("labels are left:\n%s", stack)
						}
					}
				}).Join()
			}
		}
	})
}
