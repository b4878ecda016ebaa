package runtime_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// overlay has a build take the files of sched and sched/direct as change makes them.
func overlay(t *testing.T, change func(text string) string) (flag string) {
	t.Helper()
	files, err := filepath.Glob("../../sched/direct/*")
	if err != nil {
		t.Fatal(err)
	}
	above, err := filepath.Glob("../../sched/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, above...)
	folder, replace := t.TempDir(), map[string]string{}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		changed := change(string(text))
		if changed == string(text) {
			continue
		}
		name := filepath.Join(folder, strconv.Itoa(i)+filepath.Base(file))
		if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if file, err = filepath.Abs(file); err != nil {
			t.Fatal(err)
		}
		replace[file] = name
	}
	if len(replace) == 0 {
		t.Fatal("nothing to change")
	}
	table, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(name, table, 0o600); err != nil {
		t.Fatal(err)
	}
	return "-overlay=" + name
}

// TestUnknownRelease: with a Go release that sched/direct does not know programs are portable,
// and say so.
func TestUnknownRelease(t *testing.T) {
	builds(t)
	older := overlay(t, func(text string) string { return strings.ReplaceAll(text, "go1.28", "go1.26") })
	text := succeeds(t, exec.Command(build(t, "program", []string{"CGO_ENABLED=0"}, older), "all", "200ms"))
	if !strings.Contains(text, "portable mode on") {
		t.Errorf("it does not say that it is portable:\n%s", tail(text))
	}
}

// TestOtherOffsets: with a runtime that keeps things elsewhere programs do not start, and say
// what to do.
func TestOtherOffsets(t *testing.T) {
	builds(t)
	if !isDirect() {
		t.Skip("no direct switch here")
	}
	other := overlay(t, func(text string) string {
		return strings.Replace(text, "mLockedg     = 384", "mLockedg     = 392", 1)
	})
	if text, err := combined(t, exec.Command(build(t, "program", []string{"CGO_ENABLED=0"}, other), "all", "200ms")); err == nil || !strings.Contains(text, "-tags portable") {
		t.Errorf("it ends with %v:\n%s", err, tail(text))
	}
}
