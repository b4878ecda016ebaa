package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/launch"
)

// TestRanks: each pattern among three ranks of ours, each caller, gives one figure, which rank 0 prints.
func TestRanks(t *testing.T) {
	for _, caller := range []string{"goroutine", "thread", "explicit"} {
		for _, pattern := range []string{"alltoall", "ring", "burst"} {
			var out, rest bytes.Buffer
			j, err := launch.Start(launch.Spec{N: 3, Args: []string{"rank", caller, pattern, "40000", "2"},
				Stdout: func(rank int) io.Writer { return []io.Writer{&out, &rest, &rest}[rank] }})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Wait(); err != nil {
				t.Errorf("%s, %s: %v", caller, pattern, err)
			} else if _, err := parseNumber(out.Bytes(), 1); err != nil || rest.Len() > 0 {
				t.Errorf("%s, %s: %v; the others say %q", caller, pattern, err, &rest)
			}
		}
	}
}

// TestRankUsage: a rank says what it lacks, and leaves the job.
func TestRankUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"explicit", "ring", "8"}, {"explicit", "ring", "0", "1"}, {"explicit", "ring", "8", "few"}, {"explicit", "star", "8", "1"}} {
		if err := runRank(t.Context(), args); !errors.Is(err, errUsage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want one line", args, err)
		}
	}
}

// TestRankPrograms runs each traffic once beside the peer's, as the comparison does.
func TestRankPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("the launchers take seconds")
	}
	t.Parallel() // most of it is waiting for launchers
	w, err := newWorkshop()
	if err != nil {
		t.Fatal(err)
	}
	defer w.remove()
	cpus, err := usableCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []traffic{{3, "alltoall", 8, 2}, {3, "ring", 50_001, 2}, {3, "burst", 8, 2}} {
		for _, p := range []program{w.rankMPI(x), w.rankJob("", "explicit", x)} {
			if err := p.build(t.Context()); errors.Is(err, errMissing) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			if f, err := run(t.Context(), p, 1, 0, [2]int{cpus[0], cpus[len(cpus)-1]}); err != nil {
				t.Error(err)
			} else if f.Median > 1e9 {
				t.Errorf("%s takes %v ns", p.name, f.Median)
			}
		}
	}
}

// asRank is the life of this program where a test has started it as a rank.
func asRank() {
	if len(os.Args) > 1 && (os.Args[1] == "rank" || os.Args[1] == "access") {
		main()
		os.Exit(0)
	}
}
