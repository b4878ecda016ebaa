package layers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readsNothing has the functions that the race detector may watch where those call them that it does not, and why.
var readsNothing = map[string]string{
	"sched.raceSawBirth":           "it is for the detector: the atomic load of a variable of its own",
	"sched.raceRelease":            "it is for the detector, and gets the address of the token from a function that is marked",
	"(*sched.co).isInside":         "an atomic load",
	"(*sched.vpWord).holder":       "an atomic load",
	"(*sched.queueClass).load":     "an atomic load",
	"(sched.queueClass).rank":      "computes with its receiver, a value",
	"(*sched.BoundedWait).Claimed": "an atomic load",
	"(*sched.Scheduler).Alive":     "atomic loads; the list of VPs never changes",
	"(*sched.vp).mode":             "atomic loads, and functions that are marked",
	"(*sched.vp).queueLen":         "reads by a function that is marked",
	"(*sched.idleState).asleep":    "an atomic load",
	"(*sched.idleState).waking":    "an atomic load",
	"(*sched.idleState).kicked":    "an atomic load",
	"(*sched.queueNode).dump":      "atomic loads; the tree of nodes never changes",
	"(*sched.lwps).list":           "atomic loads",
	"(*sched.registry).all":        "locks what it reads",
}

func TestUnwatched(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the library")
	}
	found, unused := Unwatched(loadLibrary(t), module, readsNothing)
	for _, v := range found {
		t.Error(v)
	}
	for _, name := range unused {
		t.Errorf("no function that is marked calls %s: take it out of readsNothing", name)
	}
}

// TestUnwatchedFound: what a mark does not extend to.
func TestUnwatchedFound(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/small\n\ngo 1.26\n",
		"a.go": `package small

import "sync/atomic"

type queue struct{ head, tail int }

var q queue
var n atomic.Int32

func (q *queue) len() int  { return q.tail - q.head }
func (q *queue) load() int { return int(n.Load()) }

// size is a hint.
//
//go:norace
func size() int { return q.len() + q.load() + marked() }

// marked is a hint.
//
//go:norace
func marked() int {
	look := func() int { return q.head }
	return look()
}

//go:norace
func bare() int { return q.tail }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := load(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	found, unused := Unwatched(packages, "example.org", map[string]string{"(*small.queue).load": "an atomic load", "small.gone": "it is not there"})
	want := []string{
		"a.go:16: size is marked //go:norace and calls (*small.queue).len, which is not",
		"a.go:22: a function literal in marked, to which the mark //go:norace does not extend",
		"a.go:27: bare is marked //go:norace and does not say why that is right",
	}
	for i, v := range found {
		if i >= len(want) || v.String() != want[i] {
			t.Errorf("found %s", v)
		}
	}
	if len(found) != len(want) {
		t.Errorf("found %d, want:\n%s", len(found), strings.Join(want, "\n"))
	}
	if !slices.Equal(unused, []string{"small.gone"}) {
		t.Errorf("unused are %v", unused)
	}
}
