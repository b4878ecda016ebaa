package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPrograms: which rank runs which program, and with which environment; and what is no job.
func TestPrograms(t *testing.T) {
	t.Setenv("LAUNCH_KEPT", "1")
	t.Setenv("LAUNCH_LEFT", "2")
	dir := t.TempDir()
	s := Spec{N: 4, Path: "/bin/true", Env: []string{"A=all"}, Programs: []Program{
		{N: 1, Args: []string{"first"}},
		{N: 3, Path: "/bin/false", Dir: dir, Env: []string{"B=some"}, Inherit: func(name string) bool { return name == "LAUNCH_KEPT" }},
	}}
	if err := s.complete(); err != nil {
		t.Fatal(err)
	}
	for rank, want := range []string{"/bin/true 0", "/bin/false 1", "/bin/false 1", "/bin/false 1"} {
		p, number := s.program(rank)
		if got := fmt.Sprint(p.Path, " ", number); got != want {
			t.Errorf("rank %d runs %s, want %s", rank, got, want)
		}
	}
	first, _ := s.program(0)
	second, _ := s.program(3)
	all, some := s.environment(nil, first), s.environment(nil, second)
	if !slices.Contains(all, "LAUNCH_LEFT=2") || !slices.Contains(all, "A=all") || slices.Contains(all, "B=some") {
		t.Errorf("the first program gets %q", all)
	}
	if want := []string{"LAUNCH_KEPT=1", "PWD=" + dir, "A=all", "B=some"}; !slices.Equal(some, want) {
		t.Errorf("the second program gets %q, want %q", some, want)
	}
	for why, s := range map[string]Spec{
		"the programs have 3 processes, and the job 4": {N: 4, Programs: []Program{{N: 3}}},
		"give at least 1":          {N: 4, Programs: []Program{{N: 4}, {N: 0}}},
		"the launcher that starts": {N: 2, First: 1, PMI: true},
	} {
		if err := s.complete(); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// TestFolders: only programs that have ranks here need their working directories here.
func TestFolders(t *testing.T) {
	programs := []Program{{N: 2, Dir: os.DevNull}, {N: 2, Dir: t.TempDir()}}
	for _, c := range []struct {
		first, count int
		ok           bool
	}{{0, 4, false}, {0, 1, false}, {1, 2, false}, {2, 2, true}, {3, 1, true}, {0, 0, true}} {
		s := Spec{N: 4, First: c.first, Count: c.count, Programs: programs}
		if err := s.folders(); (err == nil) != c.ok || err != nil && (!errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), "is no directory")) {
			t.Errorf("%d ranks from %d on: %v", c.count, c.first, err)
		}
	}
}

// guarded is a buffer that two goroutines use.
type guarded struct {
	mu sync.Mutex
	bytes.Buffer
}

func (gd *guarded) Write(b []byte) (int, error) {
	gd.mu.Lock()
	defer gd.mu.Unlock()
	return gd.Buffer.Write(b)
}

func (gd *guarded) String() string {
	gd.mu.Lock()
	defer gd.mu.Unlock()
	return gd.Buffer.String()
}

// TestBareLines: whole lines, with nothing before them; a line without an end comes after a while, and at the end as it
// is.
func TestBareLines(t *testing.T) {
	var out guarded
	l := NewBareLines(&out)
	one, two := l.Of(1), l.Of(2)
	fmt.Fprint(one, "a")
	fmt.Fprint(two, "x\ny\nz")
	fmt.Fprint(one, "b\n")
	if got := out.String(); got != "x\ny\nab\n" && !strings.HasPrefix(got, "a") { // a machine that is slow has written a by itself
		t.Errorf("got %q", got)
	}
	for end := time.Now().Add(20 * time.Second); !strings.HasSuffix(out.String(), "z"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("a line without an end is not written: %q", out.String())
		}
	}
	fmt.Fprint(two, "!")
	if err := l.Flush(nil); err != nil || !strings.HasSuffix(out.String(), "z!") {
		t.Errorf("%v, %q", err, out.String())
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestBareLinesFail: what a line without an end has met is told at the end.
func TestBareLinesFail(t *testing.T) {
	l := NewBareLines(failing{})
	one := l.Of(1)
	fmt.Fprint(one, "a")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := fmt.Fprint(one, "b"); errors.Is(err, os.ErrClosed) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("writes go on")
		}
	}
	if err := l.Flush(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestFlushSlow: Flush waits for a reader that is slow, also when a timer is just writing to it; for one that takes
// nothing, once the job is given up, it does not.
func TestFlushSlow(t *testing.T) {
	w := newSlow()
	l := NewBareLines(w)
	fmt.Fprint(l.Of(0), "begun")
	<-w.asked // the timer writes
	givenUp := make(chan struct{})
	close(givenUp)
	if err := l.Flush(givenUp); !errors.Is(err, errGivenUp) {
		t.Errorf("given up, and Flush says %v", err)
	}
	time.AfterFunc(2*linePause, func() { close(w.opened) })
	if err := l.Flush(nil); err != nil {
		t.Error(err)
	}
	if got := w.String(); got != "begun" {
		t.Errorf("%q came, want begun", got)
	}
}
