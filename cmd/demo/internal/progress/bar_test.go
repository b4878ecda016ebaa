package progress

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestPipe: what is no terminal gets the rows and not one byte more.
func TestPipe(t *testing.T) {
	var out bytes.Buffer
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	b := New(10, &out, stderr)
	b.Label("1K")
	b.Add(5)
	fmt.Fprintln(b, "a row")
	b.Done()
	fmt.Fprintln(b, "another")
	if got := out.String(); got != "a row\nanother\n" {
		t.Errorf("%q", got)
	}
	if info, err := stderr.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v bytes on stderr, %v", info.Size(), err)
	}
}

// screen is a terminal as far as the bar needs one: newline, cursor up, clear.
type screen struct {
	mu    sync.Mutex
	lines []string // the last is where the cursor is
	saw   bool     // a bar was visible at some time
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) == 0 {
		s.lines = []string{""}
	}
	for rest := string(text); rest != ""; {
		last := len(s.lines) - 1
		switch {
		case strings.HasPrefix(rest, "\x1b[1A"):
			if last == 0 {
				s.lines = []string{"the cursor left the screen"}
			} else {
				s.lines = s.lines[:last] // the cursor's line is empty whenever it moves up
			}
			rest = rest[4:]
		case strings.HasPrefix(rest, "\x1b[J"):
			s.lines[last] = ""
			rest = rest[3:]
		case rest[0] == '\n':
			s.lines = append(s.lines, "")
			rest = rest[1:]
		default:
			s.lines[last] += rest[:1]
			rest = rest[1:]
		}
	}
	for _, l := range s.lines {
		s.saw = s.saw || strings.Contains(l, "[") && strings.Contains(l, "] row")
	}
	return len(text), nil
}

func (s *screen) seen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saw
}

func TestRemaining(t *testing.T) {
	for _, test := range []struct {
		done, total int64
		elapsed     time.Duration
		want        string
	}{
		{0, 10, time.Second, ""},
		{1, 10, time.Second, ", 9s left"},
		{5, 10, 2 * time.Minute, ", 2m0s left"},
		{10, 10, time.Second, ", 0s left"},
		{11, 10, time.Second, ""},
	} {
		if got := remaining(test.done, test.total, test.elapsed); got != test.want {
			t.Errorf("%d of %d after %v: %q, want %q", test.done, test.total, test.elapsed, got, test.want)
		}
	}
}

// TestRows prints rows while a bar runs on the same terminal: afterwards all of
// them stand there, in order, and the bar is gone.
func TestRows(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := &screen{}
	b := &Bar{out: s}
	b.start(4, &frames{to: s, shared: true}, 80)
	var want []string
	for i := range 4 {
		b.Label(fmt.Sprint("row ", i))
		for deadline := time.Now().Add(10 * time.Second); i > 0 && !s.seen(); {
			if time.Now().After(deadline) {
				t.Fatal("no bar appeared")
			}
			time.Sleep(refresh / 4)
		}
		row := fmt.Sprint("row number ", i)
		want = append(want, row)
		fmt.Fprintln(b, row)
		time.Sleep(refresh * 3 / 2) // some frames in between
		if i < 3 {
			b.Add(1)
		}
	}
	b.Done()
	b.Done()
	fmt.Fprintln(b, "the end")
	want = append(want, "the end", "")
	if got := strings.Join(s.lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the screen shows\n%s", got)
	}
}
