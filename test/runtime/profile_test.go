package runtime_test

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/test/runtime/exercise"
)

// TestProfiles: all of the runtime's profiles, again and again, beside all that threads do.
func TestProfiles(t *testing.T) {
	runtime.SetBlockProfileRate(1)
	old := runtime.SetMutexProfileFraction(1)
	defer func() { runtime.SetBlockProfileRate(0); runtime.SetMutexProfileFraction(old) }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		checked(t)(exercise.All(effort.Of(4 * time.Second)))
	}()
	taken := 0
	for over := false; !over; taken++ {
		var cpu bytes.Buffer
		if err := pprof.StartCPUProfile(&cpu); err != nil {
			t.Skip("a profile is being taken already")
		}
		for _, p := range pprof.Profiles() {
			for _, debug := range []int{0, 1, 2} {
				var b bytes.Buffer
				if err := p.WriteTo(&b, debug); err != nil || b.Len() == 0 {
					t.Errorf("%s, %d: %v, %d bytes", p.Name(), debug, err, b.Len())
				}
			}
		}
		pprof.StopCPUProfile()
		if cpu.Len() == 0 {
			t.Error("an empty profile")
		}
		select {
		case <-done:
			over = true
		default:
		}
	}
	t.Logf("%d times", taken)
}

// TestDump: a program that is told to quit shows the stacks of threads that are parked, that
// wait in Go, and that were stopped.
func TestDump(t *testing.T) {
	builds(t)
	cmd := exec.Command(build(t, "program", []string{"CGO_ENABLED=0"}), "wait", "1m")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var dump bytes.Buffer
	cmd.Stderr = &dump
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() }).Stop()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Errorf("it says %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("it ends with %v", err)
	}
	for _, want := range []string{"SIGQUIT: quit", "parkedInSemaphore", "waitsInChannel", "computes"} {
		if !strings.Contains(dump.String(), want) {
			t.Errorf("the dump lacks %q:\n%s", want, tail(dump.String()))
		}
	}
}
