package marcel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// A scenario runs in a process of its own: most of them must die, with the stack
// of the thread that panicked and not with a bystander's.
var scenarios = map[string]func(){
	"die: a panic": func() {
		marcel.Spawn(func() { marcel.Yield(); culprit("it was me") })
		select {}
	},
	"die: a panic of a thread with a name": func() {
		marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0), Name: "it was me"}, func() { culprit("oops") })
		select {}
	},
	"die: an error of the runtime": func() {
		marcel.Spawn(func() {
			marcel.Blocking(func() { nap(time.Millisecond) })
			_ = down(3, func() { culprit([]string{"it was me"}[0]) }) / len(os.Args[1:])
		})
		select {}
	},
	"die: a panic that no Join can take any more": func() {
		marcel.SpawnWith(marcel.Attr{Catch: true}, func() { marcel.Sleep(time.Millisecond); culprit("it was me") }).Detach()
		select {}
	},
	"die: a panic in Run": func() { marcel.Run(func() { culprit("it was me") }) },
	"die: a panic while the thread exits": func() {
		marcel.Spawn(func() { defer culprit("it was me"); runtime.Goexit() })
		select {}
	},
	"live: caught panics while threads exit": func() {
		for range 200 {
			err := marcel.SpawnWith(marcel.Attr{Catch: true}, func() { defer culprit(errOops); runtime.Goexit() }).Join()
			if !errors.Is(err, errOops) {
				fmt.Println("Join says", err)
				os.Exit(1)
			}
			if err := marcel.Spawn(func() { marcel.Yield() }).Join(); err != nil {
				fmt.Println("then, Join says", err)
				os.Exit(1)
			}
		}
	},
	"live: main ends while threads live": func() {
		for range 10 {
			marcel.Spawn(func() { select {} })
			marcel.Spawn(func() { new(marcel.Semaphore).Acquire() })
		}
	},
	"live: os.Exit in a thread": func() { marcel.Run(func() { os.Exit(0) }) },
}

const scenarioVariable = "PM2_MARCEL_SCENARIO"

func TestScenarios(t *testing.T) {
	for name := range scenarios {
		t.Run(name, func(t *testing.T) {
			out, err := again(t, scenarioVariable+"="+name)
			if strings.HasPrefix(name, "live") {
				if err != nil {
					t.Errorf("%v: %s", err, out)
				}
				return
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("ended with %v, want exit status 2", err)
			}
			first, _, _ := strings.Cut(out, "\n\n") // the panic and its stack
			if !strings.Contains(out, "it was me") || !strings.Contains(out, "marcel_test.culprit") || strings.Contains(out, "fatal error") {
				t.Errorf("not the thread's own panic: %s\n...", first)
			}
		})
	}
}

// again runs this test program once more, with these arguments and one more
// variable in its environment.
func again(t *testing.T, variable string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("it did not end: %s", out.String())
	}
	return out.String(), err
}

// TestFailing is for TestFailNowInRun to run.
func TestFailing(t *testing.T) {
	if os.Getenv(failingVariable) == "" {
		t.Skip("fails, in the process that TestFailNowInRun starts")
	}
	for name, f := range map[string]func(t *testing.T){
		"passes": func(t *testing.T) { t.Log("passes") },
		"fails":  func(t *testing.T) { marcel.Yield(); t.FailNow() },
		"fatal":  func(t *testing.T) { defer marcel.Yield(); t.Fatal("as it should") },
		"skips":  func(t *testing.T) { t.SkipNow() },
	} {
		t.Run(name, func(t *testing.T) {
			marcel.Run(func() { f(t) })
			if name != "passes" {
				t.Log("WENT ON")
			}
		})
	}
}

const failingVariable = "PM2_MARCEL_FAILING"

func TestFailNowInRun(t *testing.T) {
	out, err := again(t, failingVariable+"=1", "-test.run=^TestFailing$", "-test.v")
	if err == nil {
		t.Error("it did not fail")
	}
	for _, want := range []string{"--- PASS: TestFailing/passes", "--- FAIL: TestFailing/fails", "--- FAIL: TestFailing/fatal", "--- SKIP: TestFailing/skips", "as it should"} {
		if !strings.Contains(out, want) {
			t.Errorf("its output lacks %q", want)
		}
	}
	if strings.Contains(out, "WENT ON") {
		t.Error("FailNow in Run did not end the test")
	}
	if t.Failed() {
		t.Log(out)
	}
}
