package runtime_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestBuildModes: programs of each kind.
func TestBuildModes(t *testing.T) {
	builds(t)
	for _, mode := range []struct {
		name  string
		c     bool
		flags []string
	}{
		{"executable", false, nil},
		{"PIE", false, []string{"-buildmode=pie"}},
		{"external linking", true, []string{"-ldflags=-linkmode=external"}},
		{"PIE, external linking", true, []string{"-buildmode=pie", "-ldflags=-linkmode=external"}},
		{"race detector and checkptr", true, []string{"-race"}},
		{"portable", false, []string{"-tags=portable"}},
	} {
		if mode.name != "executable" && !effort.Long() {
			continue // the scheduler, and for most the standard library, are compiled for each
		}
		t.Run(mode.name, func(t *testing.T) {
			env := []string{"CGO_ENABLED=0"}
			if mode.c {
				needsC(t)
				env = []string{"CGO_ENABLED=1"}
			}
			program := build(t, "program", env, mode.flags...)
			text := succeeds(t, exec.Command(program, "all", "300ms"))
			if strings.Contains(text, "portable mode") {
				t.Errorf("it is portable without being asked:\n%s", tail(text))
			}
		})
	}
}

// TestArm64: the same program where the instructions are others, in an emulator.
func TestArm64(t *testing.T) {
	if !effort.Long() {
		t.Skip("the standard library is compiled for it: with -long")
	}
	builds(t)
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		t.Skip("no qemu-aarch64 here (Debian: qemu-user)")
	}
	program := build(t, "program", []string{"GOARCH=arm64", "CGO_ENABLED=0"})
	text := succeeds(t, exec.Command(qemu, program, "all", "300ms"))
	if strings.Contains(text, "portable mode") {
		t.Errorf("it is portable:\n%s", tail(text))
	}
}

// TestAddressSanitizer: the same program with Go's address sanitizer.
func TestAddressSanitizer(t *testing.T) {
	if !effort.Long() {
		t.Skip("the standard library is compiled for it: with -long")
	}
	builds(t)
	needsC(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if text, err := exec.Command("gcc", "-fsanitize=address", "-o", empty, "-x", "c", "-include", "stddef.h", os.DevNull, "-shared").CombinedOutput(); err != nil {
		t.Skipf("gcc has no address sanitizer: %s", text)
	}
	program := build(t, "program", []string{"CGO_ENABLED=1"}, "-asan")
	succeeds(t, exec.Command(program, "all", "300ms"))
}

// TestShared: a program in C loads a library with threads.
func TestShared(t *testing.T) {
	builds(t)
	needsC(t)
	lib := build(t, "shared", []string{"CGO_ENABLED=1"}, "-buildmode=c-shared")
	program := filepath.Join(t.TempDir(), "load")
	if text, err := exec.Command("gcc", "-o", program, "testdata/shared/load.c", "-ldl", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	succeeds(t, exec.Command(program, lib))
}

// TestCallbacks: callbacks from C that block, yield, are preempted, and nest.
func TestCallbacks(t *testing.T) {
	builds(t)
	needsC(t)
	succeeds(t, exec.Command(build(t, "callbacks", []string{"CGO_ENABLED=1"})))
}

// TestEveryThread: setuid, which the runtime calls on every OS thread, and GOMAXPROCS, beside
// all else.
func TestEveryThread(t *testing.T) {
	builds(t)
	succeeds(t, exec.Command(build(t, "program", []string{"CGO_ENABLED=0"}), "setuid", "500ms"))
}

// TestNoAsyncPreemption: where Go's preemption by signals is turned off CPU-bound threads are not stopped,
// and all ends well.
func TestNoAsyncPreemption(t *testing.T) {
	builds(t)
	cmd := exec.Command(build(t, "program", []string{"CGO_ENABLED=0"}), "all", "500ms")
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	succeeds(t, cmd)
}
