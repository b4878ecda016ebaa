package launch

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// longestLine is how much of a line without an end is kept before it is written all the same.
const longestLine = 64 << 10

// linePause is how long a line without an end is kept before it is written without a rank in front of it: it may be a
// question to the user.
const linePause = 100 * time.Millisecond

// Lines mixes what several ranks write into one stream: whole lines, each with its rank in front, such as "[3] done".
// It is safe for concurrent use.
type Lines struct {
	bare bool // nothing is put in front of a line

	mu      sync.Mutex
	out     io.Writer
	partial map[int]partialLine // by rank
	timer   *time.Timer         // bare: calls writeLate; nil: no partial line waits
	err     error               // the first error of out; nothing is written after it
}

// partialLine is the beginning of a line whose end a rank has not written yet.
type partialLine struct {
	text  []byte
	since time.Time // when its first byte came
}

// NewLines returns Lines that write to w.
func NewLines(w io.Writer) *Lines { return &Lines{out: w, partial: map[int]partialLine{}} }

// NewBareLines returns Lines that write to w, and put nothing in front of a line. A line that has not ended is written
// after a tenth of a second, and may then have another rank's within it.
func NewBareLines(w io.Writer) *Lines {
	return &Lines{bare: true, out: w, partial: map[int]partialLine{}}
}

// Of returns the writer for a rank, for Spec.Stdout and Spec.Stderr. Nothing is put in front of what comes from
// Relayed.
func (l *Lines) Of(rank int) io.Writer { return lineWriter{l, rank} }

// Flush writes the lines that have not ended, and ends them. It comes after Job.Wait. It blocks the calling thread
// until the stream has taken all; once givenUp is closed (Job.GivenUp; nil: never) for a moment only, and what the
// stream has not taken by then is lost. The error says so, or is the first one of the stream.
func (l *Lines) Flush(givenUp <-chan struct{}) error {
	done := make(chan error, 1)
	go func() { done <- l.flush() }() // stays until the stream lets it
	select {
	case err := <-done:
		return err
	case <-givenUp:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(linePause):
		return errGivenUp
	}
}

// flush writes the lines that have not ended, and ends them.
func (l *Lines) flush() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	err = l.err
	for _, rank := range slices.Sorted(maps.Keys(l.partial)) {
		if text := l.partial[rank].text; len(text) > 0 && err == nil {
			err = l.line(rank, l.endLine(text))
		}
	}
	clear(l.partial)
	return err
}

// endLine ends a line that its rank has not ended. A bare one stays as it is.
func (l *Lines) endLine(text []byte) []byte {
	if l.bare {
		return text
	}
	return append(text, '\n')
}

// writeLate writes the partial lines that have waited for linePause. The caller holds mu.
func (l *Lines) writeLate() {
	l.timer = nil
	for rank, b := range l.partial {
		switch {
		case len(b.text) == 0 || l.err != nil:
		case time.Since(b.since) < linePause:
			l.scheduleLate()
		default:
			l.err = l.line(rank, b.text)
			delete(l.partial, rank)
		}
	}
}

// scheduleLate has a timer call writeLate, if none is set. The caller holds mu.
func (l *Lines) scheduleLate() {
	if l.timer == nil {
		l.timer = time.AfterFunc(linePause, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.writeLate()
		})
	}
}

// line writes one line of a rank.
func (l *Lines) line(rank int, text []byte) error {
	if l.bare || rank <= Relayed {
		_, err := l.out.Write(text)
		return err
	}
	_, err := fmt.Fprintf(l.out, "[%d] %s", rank, text)
	return err
}

type lineWriter struct {
	l    *Lines
	rank int
}

// Write implements io.Writer.
func (w lineWriter) Write(b []byte) (int, error) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	if w.l.err != nil {
		return 0, w.l.err
	}
	text, since := append(w.l.partial[w.rank].text, b...), w.l.partial[w.rank].since
	if len(text) == len(b) || bytes.IndexByte(b, '\n') >= 0 {
		since = time.Now()
	}
	for {
		end := bytes.IndexByte(text, '\n') + 1
		if w.l.bare {
			end = bytes.LastIndexByte(text, '\n') + 1
		}
		if end == 0 {
			break
		}
		if err := w.l.line(w.rank, text[:end]); err != nil {
			return 0, err
		}
		text = text[end:]
	}
	if len(text) > longestLine {
		if err := w.l.line(w.rank, w.l.endLine(text)); err != nil {
			return 0, err
		}
		text = nil
	}
	w.l.partial[w.rank] = partialLine{append([]byte(nil), text...), since}
	if w.l.bare && len(text) > 0 {
		w.l.scheduleLate()
	}
	return len(b), nil
}
