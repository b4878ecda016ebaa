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

// screen is a terminal as far as the bar needs one: newline, carriage return, cursor up, clear, and lines that are
// full.
type screen struct {
	mu       sync.Mutex
	lines    []string
	row, col int // where the cursor is
	frames   int // bars that were drawn so far
}

const screenWidth = 80

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bar := false
	for rest := string(text); rest != ""; {
		for len(s.lines) <= s.row {
			s.lines = append(s.lines, "")
		}
		n := 1
		switch {
		case strings.HasPrefix(rest, "\x1b[1A"):
			if n = 4; s.row == 0 {
				s.lines = []string{"the cursor left the screen"}
			} else {
				s.row--
			}
		case strings.HasPrefix(rest, "\x1b[J"):
			n = 3
			s.lines = s.lines[:s.row+1]
			s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
		case rest[0] == '\r':
			s.col = 0
		case rest[0] == '\n':
			s.row, s.col = s.row+1, 0
		case s.col == screenWidth:
			n, s.row, s.col = 0, s.row+1, 0 // the line is full
		default:
			bar = bar || rest[0] == ']'
			line := s.lines[s.row] + strings.Repeat(" ", max(s.col-len(s.lines[s.row]), 0))
			s.lines[s.row] = line[:s.col] + rest[:1] + line[min(s.col+1, len(line)):]
			s.col++
		}
		rest = rest[n:]
	}
	if bar {
		s.frames++
	}
	return len(text), nil
}

// drawn waits until so many more bars have been drawn.
func (s *screen) drawn(t *testing.T, more int) {
	t.Helper()
	s.mu.Lock()
	want := s.frames + more
	s.mu.Unlock()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(refresh / 4) {
		s.mu.Lock()
		now := s.frames
		s.mu.Unlock()
		if now >= want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no bar appeared")
		}
	}
}

// shows compares what is on the screen in the end.
func (s *screen) shows(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.TrimRight(strings.Join(s.lines, "\n"), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the screen shows\n%s", got)
	}
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
	b.start(4, &frames{to: s, shared: true}, screenWidth)
	var want []string
	for i := range 4 {
		b.Label(fmt.Sprint("row ", i))
		if i > 0 {
			s.drawn(t, 1)
		}
		row := fmt.Sprint("row number ", i)
		want = append(want, row)
		fmt.Fprintln(b, row)
		s.drawn(t, 1)
		if i < 3 {
			b.Add(1)
		}
	}
	b.Done()
	b.Done()
	fmt.Fprintln(b, "the end")
	s.shows(t, append(want, "the end")...)
}

// TestEcho: the terminal echoes ^C where the cursor stands, below the bar; the bar goes away all the same.
func TestEcho(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := &screen{}
	b := &Bar{out: s}
	b.start(4, &frames{to: s, shared: true}, screenWidth)
	s.drawn(t, 1)
	fmt.Fprint(s, "^C")
	s.drawn(t, 2)
	fmt.Fprint(s, "^C")
	b.Done()
	fmt.Fprintln(b, "interrupted")
	s.shows(t, "interrupted")
}
