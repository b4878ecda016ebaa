//go:build ofi && cgo

package ofi

import (
	"os"
	"os/exec"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver/drivertest"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// TestFiles: a process that opens the provider shm removes the files of processes that were killed.
func TestFiles(t *testing.T) {
	gone := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	file := process.Folder + process.FileName(gone.Process.Pid) + "0:0"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	drivertest.Open(t, Driver{provider: "shm"}, drivertest.Config(0))
	if _, err := os.Stat(file); err == nil {
		t.Error(file, "is still there")
	}
}
