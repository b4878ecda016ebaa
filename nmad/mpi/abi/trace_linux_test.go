//go:build cgo && !race

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/marcel/timeline"
	"github.com/pm2-go/pm2/marcel/view"
)

// TestTrace: where the environment asks for it each rank leaves a timeline of its calls, also when an error ends the
// job, and those of a host can be merged.
func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	t.Setenv(view.Trace, path)
	rank := func(i int) *timeline.Timeline {
		t.Helper()
		f, err := os.Open(fmt.Sprintf("%s.%d", path, i))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		x, err := timeline.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Check(); err != nil {
			t.Error(err)
		}
		return x
	}
	count := func(x *timeline.Timeline, has func(timeline.Event) bool) (n int) {
		for _, e := range x.Events {
			if e.Cat == "MPI" && has(e) {
				n++
			}
		}
		return n
	}
	if out, err := run(t, "2", compile(t, "messages")); err != nil || !strings.Contains(out, "all is well") {
		t.Fatalf("%v\n%s", err, out)
	}
	both, err := timeline.Merge(rank(0), rank(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := both.Check(); err != nil {
		t.Error(err)
	}
	for i := range 2 {
		x := rank(i)
		if n := count(x, func(e timeline.Event) bool {
			return e.Name == "MPI_Recv" && e.Args["tag"] != nil && e.Args["rank"] != nil
		}); n < 2 {
			t.Errorf("rank %d: %d receives in its timeline", i, n)
		}
		if n := count(x, func(e timeline.Event) bool { return e.TID != 1 || e.Dur < 0 }); n != 0 {
			t.Errorf("rank %d: %d calls in rows of other threads, or that last less than no time", i, n)
		}
	}
	if out, err := run(t, "2", compile(t, "fatal")); err == nil {
		t.Errorf("it ended well: %s", out)
	}
	if n := count(rank(1), func(timeline.Event) bool { return true }); n == 0 {
		t.Error("a rank that an error has ended has no calls in its timeline")
	}
	// What cannot be written is said, and the program goes on.
	t.Setenv(view.Trace, "/nowhere/t.json")
	if out, err := run(t, "2", compile(t, "messages")); err != nil || !strings.Contains(out, "/nowhere/t.json.1: no such file or directory: the program goes on without") {
		t.Errorf("%v\n%s", err, out)
	}
}
