//go:build linux

package drivertest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pm2-go/pm2/internal/test/orphans"
)

// clean arranges for t to fail if, once everything it opened is closed, it leaves behind what was not there before:
// goroutines, descriptors, shared mappings, files of ours in /dev/shm. Call it first.
func clean(t *testing.T) {
	t.Helper()
	// Go's poller opens its own descriptors at the first use, and keeps them.
	if r, w, err := os.Pipe(); err == nil {
		_, _ = r.Close(), w.Close()
	}
	before := resources()
	goroutines := goleak.IgnoreCurrent()
	t.Cleanup(func() { // the last one to run, being the first
		if err := goleak.Find(goroutines); err != nil {
			t.Errorf("goroutines are left: %v", err)
		}
		var extra []string
		for range 200 { // Go's own may take a moment to go
			if extra = more(before, resources()); len(extra) == 0 {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Errorf("left behind:\n%s", strings.Join(extra, "\n"))
	})
}

// resources lists, as kinds of things and not with their numbers, what a process holds: descriptors, shared mappings;
// and the files in /dev/shm that no process has.
func resources() []string {
	var out []string
	if dir, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, e := range dir {
			to, err := os.Readlink("/proc/self/fd/" + e.Name())
			if err != nil || strings.HasPrefix(to, "/proc/") {
				continue // the directory being read
			}
			kind, _, _ := strings.Cut(to, ":[")
			out = append(out, "descriptor of "+kind)
		}
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		for line := range strings.Lines(string(maps)) {
			if f := strings.Fields(line); len(f) > 5 && (strings.Contains(f[5], "memfd:") || strings.HasPrefix(f[5], "/dev/shm/")) {
				out = append(out, "mapping of "+f[5])
			}
		}
	}
	out = append(out, orphans.Files()...)
	slices.Sort(out)
	return out
}

// more gives what is in b more often than in a; both are sorted.
func more(a, b []string) (extra []string) {
	for _, x := range b {
		for len(a) > 0 && a[0] < x {
			a = a[1:]
		}
		if len(a) > 0 && a[0] == x {
			a = a[1:]
			continue
		}
		extra = append(extra, x)
	}
	return extra
}
