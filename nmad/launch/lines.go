package launch

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// longestLine is how much of a line without an end is kept before it is written
// all the same.
const longestLine = 64 << 10

// Lines mixes what several ranks write into one stream: whole lines, each with its
// rank in front, such as "[3] done". It is safe for concurrent use.
type Lines struct {
	mu    sync.Mutex
	to    io.Writer
	begun map[int][]byte // by rank: a line that has not ended
}

// NewLines returns Lines that write to w.
func NewLines(w io.Writer) *Lines { return &Lines{to: w, begun: map[int][]byte{}} }

// Of returns the writer of a rank, as Spec.Stdout and Spec.Stderr want it. Nothing is
// put in front of what comes from Relayed.
func (l *Lines) Of(rank int) io.Writer { return lineWriter{l, rank} }

// Flush writes the lines that have not ended, and ends them. It comes after Job.Wait. The error is the first one of the stream.
func (l *Lines) Flush() (err error) {
	if !l.mu.TryLock() {
		return nil // the job was given up while its reader took nothing; Wait has said so
	}
	defer l.mu.Unlock()
	for rank, text := range l.begun {
		if len(text) > 0 && err == nil {
			err = l.line(rank, append(text, '\n'))
		}
	}
	clear(l.begun)
	return err
}

func (l *Lines) line(rank int, text []byte) error {
	if rank <= Relayed {
		_, err := l.to.Write(text)
		return err
	}
	_, err := fmt.Fprintf(l.to, "[%d] %s", rank, text)
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
	text := append(w.l.begun[w.rank], b...)
	for {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			break
		}
		if err := w.l.line(w.rank, text[:end]); err != nil {
			return 0, err
		}
		text = text[end:]
	}
	if len(text) > longestLine {
		if err := w.l.line(w.rank, append(text, '\n')); err != nil {
			return 0, err
		}
		text = nil
	}
	w.l.begun[w.rank] = append([]byte(nil), text...)
	return len(b), nil
}
