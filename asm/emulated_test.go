//go:build !arm64 && !portable && !race

package asm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestArm64 runs this package's tests, of the assembly and of the portable twins, as
// arm64 programs where qemu-user is installed. It says that instructions and calling
// convention are right; the order of memory operations is that of the host.
func TestArm64(t *testing.T) {
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		t.Skip("the assembly for arm64 is not run: no qemu-aarch64 here (Debian: qemu-user)")
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the assembly for arm64 is not run: no go command here")
	}
	for _, twin := range []struct{ name, tags string }{{"assembly", ""}, {"portable", "portable"}} {
		t.Run(twin.name, func(t *testing.T) {
			t.Parallel()
			binary := filepath.Join(t.TempDir(), "asm.test")
			build := exec.Command(goCommand, "test", "-c", "-tags", twin.tags, "-o", binary, ".")
			build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("build: %v\n%s", err, text)
			}
			text, err := exec.Command(qemu, binary, "-test.short").CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			t.Logf("%s", text)
		})
	}
}
