//go:build ofi && cgo

package ofi

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver/drivertest"
)

// TestSweep: the next process removes the files of those that were killed, and no others.
func TestSweep(t *testing.T) {
	gone := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dead := folder + all() + fmt.Sprint(gone.Process.Pid)
	for file, stays := range map[string]bool{
		dead + ":0:0":              false,
		dead + ":1000:17":          false,
		dead:                       true, // of another program
		folder + own() + ":0:7777": true, // we live
		folder + all() + "x:0:0":   true,
		folder + "pm2-ofi-1-" + fmt.Sprint(gone.Process.Pid) + ":0:0": true, // of another name space of processes
	} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file)
		drivertest.Open(t, Driver{provider: "shm"}, drivertest.Config(0))
		if _, err := os.Stat(file); (err == nil) != stays {
			t.Errorf("%s: %v", file, err)
		}
	}
}
