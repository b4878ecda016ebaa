package launch

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shell is a job of one rank that runs a script. What it writes, on both streams, goes to w.
func shell(t *testing.T, w io.Writer, grace time.Duration, script string, args ...string) *Job {
	t.Helper()
	to := func(int) io.Writer { return w }
	j, err := Start(Spec{N: 1, Path: "/bin/sh", Args: append([]string{"-c", script}, args...), Stdout: to, Stderr: to, Grace: grace, Guard: true})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// slow is a writer that takes nothing before it is opened.
type slow struct {
	asked, opened chan struct{}
	once          sync.Once
	bytes.Buffer
}

func newSlow() *slow { return &slow{asked: make(chan struct{}), opened: make(chan struct{})} }

func (sl *slow) Write(b []byte) (int, error) {
	sl.once.Do(func() { close(sl.asked) })
	<-sl.opened
	return sl.Buffer.Write(b)
}

// filler fills a pipe, so that its end is in the kernel when the writer has ended.
const filler = `i=0; while [ $i -lt 600 ]; do echo 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890; i=$((i+1)); done; echo end >&2`

// TestSlowReader: what a rank has written before its end is all passed on, to a reader that takes nothing for many times
// the grace period.
func TestSlowReader(t *testing.T) {
	const grace = 2 * time.Millisecond
	w := newSlow()
	j := shell(t, w, grace, filler)
	for alive(j.PID(0)) {
		time.Sleep(grace)
	}
	time.Sleep(20 * grace)
	close(w.opened)
	if err := j.Wait(); err != nil {
		t.Error(err)
	}
	if text := w.String(); len(text) != 600*92+4 || !strings.HasSuffix(text, "\nend\n") {
		t.Errorf("%d bytes came, which end in %q", len(text), text[max(0, len(text)-10):])
	}
}

// TestGivenUp: a second signal ends a job whose reader takes nothing, and what is lost is said.
func TestGivenUp(t *testing.T) {
	w := newSlow()
	var warned []string
	to := func(int) io.Writer { return w }
	j, err := Start(Spec{N: 1, Path: "/bin/sh", Args: []string{"-c", "echo one; sleep 3600"}, Stdout: to, Stderr: to, Grace: time.Hour,
		Warn: func(text string) { warned = append(warned, text) }})
	if err != nil {
		t.Fatal(err)
	}
	<-w.asked
	j.catch(unix.SIGINT)
	j.catch(unix.SIGINT)
	j.GiveUp()
	interrupted := (*InterruptError)(nil)
	if err := j.Wait(); !errors.As(err, &interrupted) || !interrupted.Killed {
		t.Errorf("it ended with %v", err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "rank 0: the end of the output is lost: "+errGivenUp.Error()) {
		t.Errorf("it says %q", warned)
	}
	close(w.opened)
}

// TestLeftRunning: what a rank has left running holds its output. When it writes on and ends, all is passed on and the
// job is a success; when it is silent for the grace period, the output is cut, which is none.
func TestLeftRunning(t *testing.T) {
	var o outputs
	// The rank is dead before the other one writes, and that ends before the grace period does.
	j := shell(t, o.of(0), time.Hour, `mkfifo "$0" || exit 1; setsid sh -c 'echo out > "$0"; while kill -0 '$$' 2>/dev/null; do :; done; echo late' "$0" & read x < "$0"; echo early`, filepath.Join(t.TempDir(), "left"))
	if err := j.Wait(); err != nil || o.text(0) != "early\nlate\n" {
		t.Errorf("it ended with %v and wrote %q", err, o.text(0))
	}
	var cut outputs
	j = shell(t, cut.of(0), 20*time.Millisecond, `mkfifo "$0" || exit 1; setsid sh -c 'echo out > "$0"; exec sleep 3600' "$0" & read x < "$0"; echo early`, filepath.Join(t.TempDir(), "left"))
	err := j.Wait()
	lost := (*OutputError)(nil)
	if !errors.As(err, &lost) || lost.Rank != 0 || !errors.Is(err, errSilent) {
		t.Errorf("it ended with %v, want that the output was cut", err)
	}
	if text := cut.text(0); text != "early\n" {
		t.Errorf("it wrote %q", text)
	}
}

// TestLostOutput: the reader fails, and the rank, which cannot know, ends with status 0.
func TestLostOutput(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(unix.ENOSPC)
	j := shell(t, w, time.Hour, "echo lost")
	err := j.Wait()
	if lost := (*OutputError)(nil); !errors.As(err, &lost) || !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "rank 0") {
		t.Errorf("it ended with %v", err)
	}
}

// TestLateRead: a read whose time is up when it begins returns what is there, and the end; and only else that its time is
// up.
func TestLateRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, room := pipeReader{r}, make([]byte, 8)
	for i, want := range []struct {
		n   int
		err error
	}{{0, os.ErrDeadlineExceeded}, {4, nil}, {0, io.EOF}} {
		switch i {
		case 1:
			_, err = w.WriteString("text")
		case 2:
			err = w.Close()
		}
		if err := errors.Join(err, p.SetReadDeadline(time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
		if n, err := p.Read(room); n != want.n || !errors.Is(err, want.err) {
			t.Errorf("read %d: %d bytes, %v; want %d, %v", i, n, err, want.n, want.err)
		}
	}
}

// script is a pipe whose reads end as it says: what is empty is a deadline that passes.
type script struct {
	reads  []string
	limits int
	closed bool
}

func (sc *script) Read(b []byte) (int, error) {
	if len(sc.reads) == 0 {
		return 0, io.EOF
	}
	text := sc.reads[0]
	sc.reads = sc.reads[1:]
	if text == "" {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(b, text), nil
}

func (sc *script) SetReadDeadline(time.Time) error {
	sc.limits++
	return nil
}

func (sc *script) Close() error {
	sc.closed = true
	return nil
}

// TestSilence: only reads in a row that find nothing cut a pipe, and each has a part of the grace period of its own.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		reads  []string
		got    string
		err    error
		limits int
	}{
		{[]string{"a", "", "b", "", "", "c"}, "ab", errSilent, 5},
		{[]string{"", "a", "", "b", "", "c"}, "abc", nil, 7},
		{nil, "", nil, 1},
	} {
		from, to := &script{reads: c.reads}, &bytes.Buffer{}
		o := &output{from: from, to: to, grace: time.Hour, result: make(chan error, 1)}
		o.childDead.Store(true) // as orphan does for a read that has begun
		o.run()
		if err := <-o.result; err != c.err || to.String() != c.got || from.limits != c.limits || !from.closed {
			t.Errorf("%q: %v, %q, %d deadlines, closed %v; want %v, %q, %d", c.reads, err, to, from.limits, from.closed, c.err, c.got, c.limits)
		}
	}
}
