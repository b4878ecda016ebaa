package orphans

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFiles: a file is an orphan when no process has it any more.
func TestFiles(t *testing.T) {
	f, err := os.Create(filepath.Join(folder, fmt.Sprint("pm2-orphans-test-", os.Getpid())))
	if err != nil {
		t.Skip(err)
	}
	defer os.Remove(f.Name())
	if found := Files(); slices.Contains(found, f.Name()) {
		t.Errorf("this process has the file open, and it is among %v", found)
	}
	f.Close()
	if found := Files(); !slices.Contains(found, f.Name()) {
		t.Errorf("no process has the file, and it is not among %v", found)
	}
	os.Remove(f.Name())
	if found := Files(); slices.Contains(found, f.Name()) {
		t.Errorf("the file is gone, and is among %v", found)
	}
}
