package marcel_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

func TestRun(t *testing.T) {
	within(t, func() {
		ran := false
		marcel.Run(func() {
			ran = marcel.OnThread()
			marcel.Run(func() { // from a thread: on another one
				if !marcel.OnThread() {
					t.Error("not a thread")
				}
			})
		})
		if !ran {
			t.Error("not a thread")
		}
	}, sched.Default())
}

// From a thread of one scheduler to a thread of another one, and back.
func TestRunOnAnotherScheduler(t *testing.T) {
	other := start(t, brisk(2))
	run(t, brisk(1), func(s *sched.Scheduler) {
		for range effort.Of(200) {
			me := marcel.Self()
			marcel.RunOn(other, func() {
				if marcel.Self() == me || s.CurrentVP() != -1 {
					t.Error("still on the first scheduler")
				}
				marcel.RunOn(s, func() {
					if other.CurrentVP() != -1 {
						t.Error("still on the second scheduler")
					}
				})
			})
			if marcel.Self() != me {
				t.Error("lost myself")
			}
		}
	})
}

// What ends fn ends its caller: a panic comes out with the thread's stack.
func TestRunPassesPanicsOn(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		defer func() {
			p, ok := recover().(*marcel.PanicError)
			if !ok || !errors.Is(p, errOops) || !bytes.Contains(p.Stack, []byte("marcel_test.culprit")) {
				t.Errorf("out of Run came %v", p)
			}
		}()
		marcel.Run(func() { marcel.Yield(); culprit(errOops) })
		t.Error("went on")
	})
}

func TestRunPassesGoexitOn(t *testing.T) {
	onThreadAndOff(t, func(t *testing.T) {
		went, unwound := false, false
		end := func() {
			defer func() { unwound = true }()
			marcel.Run(runtime.Goexit)
			went = true
		}
		if marcel.OnThread() {
			must(t, marcel.Spawn(end).Join())
		} else {
			done := make(chan bool)
			go func() { defer close(done); end() }()
			<-done
		}
		if went || !unwound {
			t.Errorf("went on: %v; unwound: %v", went, unwound)
		}
	})
}
