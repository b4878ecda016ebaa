package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const scratchVariable = "LAB_TEST_SCRATCH"

// TestScratch: the folder goes with remove.
func TestScratch(t *testing.T) {
	s, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.path, "file"), nil, 0o600); err != nil {
		t.Error(err)
	}
	s.remove()
	if _, err := os.Stat(s.path); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", s.path, err)
	}
}

// TestScratchOfTheKilled: the folder of a process that is killed goes, too.
func TestScratchOfTheKilled(t *testing.T) {
	if os.Getenv(scratchVariable) != "" {
		s, err := newScratch()
		if err != nil {
			t.Fatal(err)
		}
		_ = os.WriteFile(filepath.Join(s.path, "file"), nil, 0o600)
		fmt.Println(s.path)
		select {}
	}
	c := exec.Command(os.Args[0], "-test.run=^TestScratchOfTheKilled$")
	c.Env = append(os.Environ(), scratchVariable+"=1", "TMPDIR="+t.TempDir())
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 1000)
	n, err := out.Read(line)
	path := strings.TrimSpace(string(line[:n]))
	if _, missing := os.Stat(path); err != nil || missing != nil {
		t.Errorf("the process says %q, %v, %v", path, err, missing)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // it was killed
	for {        // as long as the test may take
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
