package process

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// TestRemoveFiles: what ended processes have left is removed, and nothing else.
func TestRemoveFiles(t *testing.T) {
	gone := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dead := FileName(gone.Process.Pid)
	for name, stays := range map[string]bool{
		dead + "0:0":                                  false,
		dead + "1000:17":                              false,
		dead[:len(dead)-1]:                            true, // of another program
		FileName(os.Getpid()) + "0:7777":              true,
		prefix() + "x:0:0":                            true,
		fmt.Sprintf("pm2-1-%d:0:0", gone.Process.Pid): true, // of another name space of processes
	} {
		file := Folder + name
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file)
		RemoveFiles()
		if _, err := os.Stat(file); (err == nil) != stays {
			t.Errorf("%s: %v", file, err)
		}
	}
}
