package stress

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

// scenarios are programs that must die, or must not, each in a process of its own.
var scenarios = map[string]func(){
	// A panic that is not recovered ends the program with the thread's own stack.
	"panic": func() {
		marcel.Spawn(func() { marcel.Yield(); guiltyOne() })
		select {}
	},
	"panic on a VP of its own": func() {
		marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0), Name: "culprit"}, func() { marcel.Blocking(func() { nap(1000) }); guiltyOne() })
		select {}
	},
	// Detached: no joiner takes it.
	"panic of a detached thread": func() {
		marcel.SpawnWith(marcel.Attr{Catch: true}, func() { time.Sleep(time.Millisecond); guiltyOne() }).Detach()
		select {}
	},
	// Run passes a panic and an exit on to its caller.
	"panic in Run": func() { marcel.Run(guiltyOne) },
	"exit in Run": func() {
		done := make(chan bool)
		went := false
		go func() {
			defer close(done)
			marcel.Run(runtime.Goexit)
			went = true
		}()
		<-done
		if went {
			fmt.Println("went on after Goexit")
			os.Exit(1)
		}
	},
	"caught": func() {
		h := marcel.SpawnWith(marcel.Attr{Catch: true, Name: "culprit"}, guiltyOne)
		if err := h.Join(); err == nil || !strings.Contains(err.Error(), "guiltyOne") || !strings.Contains(err.Error(), "culprit") {
			fmt.Println("Join says", err)
			os.Exit(1)
		}
	},
	"exit of main's thread": func() { marcel.Run(func() { os.Exit(0) }) },
}

//go:noinline
func guiltyOne() { panic("it was me") }

const scenarioVariable = "PM2_STRESS_SCENARIO"

func TestMain(m *testing.M) {
	if name := os.Getenv(scenarioVariable); name != "" {
		scenarios[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestFatal(t *testing.T) {
	for name := range scenarios {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), scenarioVariable+"="+name)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			if ctx.Err() != nil {
				t.Fatalf("it neither died nor ended: %s", out.String())
			}
			if !strings.HasPrefix(name, "panic") {
				if err != nil {
					t.Errorf("%v: %s", err, out.String())
				}
				return
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("ended with %v, want exit status 2: %s", err, out.String())
			}
			if text := out.String(); !strings.Contains(text, "it was me") || !strings.Contains(text, "guiltyOne") || strings.Contains(text, "fatal error") {
				t.Errorf("the trace is not that of the thread:\n%s", text)
			}
		})
	}
}
