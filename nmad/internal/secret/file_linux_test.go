package secret

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mountSecret lays a file out as Kubernetes mounts a Secret: the name is a symbolic link through another one, ..data, by
// which all files of the Secret change at once.
func mountSecret(t *testing.T, text string, mode os.FileMode) (name string) {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "..2026_11_25_13_00_00.1234567890")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "hex"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(data, "hex"), mode); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"..data": filepath.Base(data), "hex": "..data/hex"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "hex")
}

func TestReadFile(t *testing.T) {
	hex, want := strings.Repeat("5a", 32), bytes.Repeat([]byte{0x5a}, 32)
	root := os.Geteuid() == 0 // then what the test makes is root's, as all that Kubernetes mounts is
	for name, c := range map[string]struct {
		text  string
		mode  os.FileMode
		owner int    // 0: whatever the test makes
		says  string // "": it is accepted
	}{
		"defaultMode: 0400":           {hex, 0o400, 0, ""},
		"a newline, from a file":      {hex + "\n", 0o400, 0, ""},
		"ours":                        {hex, 0o600, 0, ""},
		"defaultMode: 0400, fsGroup":  {hex, 0o440, 0, map[bool]string{false: "its mode is 0440"}[root]},
		"the default of Kubernetes":   {hex, 0o644, 0, "its mode is 0644, other users have access to it: chmod 600 (in Kubernetes defaultMode: 0400)"},
		"a group that may write":      {hex, 0o660, 0, "its mode is 0660"},
		"others that may write":       {hex, 0o602, 0, "its mode is 0602"},
		"of another user":             {hex, 0o400, 4711, "it belongs to the user 4711"},
		"not hexadecimal":             {"correct horse battery staple correct horse", 0o400, 0, "it is not 32 to 2048 hexadecimal digits"},
		"short":                       {hex[:30], 0o400, 0, "it is not 32 to 2048 hexadecimal digits"},
		"long":                        {strings.Repeat(hex, 40), 0o400, 0, "it is not 32 to 2048 hexadecimal digits"},
		"empty, as an unset variable": {"", 0o400, 0, "it is not 32 to 2048 hexadecimal digits"},
	} {
		t.Run(name, func(t *testing.T) {
			file := mountSecret(t, c.text, c.mode)
			if c.owner != 0 {
				if !root {
					t.Skip("only root may give a file away")
				}
				if err := os.Chown(file, c.owner, c.owner); err != nil {
					t.Fatal(err)
				}
			}
			secret, err := ReadFile(t.Context(), file)
			if c.says == "" {
				if err != nil || !bytes.Equal(secret, want) {
					t.Errorf("%x, %v", secret, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), file) {
				t.Errorf("%v; want %q and the name", err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), hex[:8]) {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
	if _, err := ReadFile(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
