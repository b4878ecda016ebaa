package fault

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// Record returns the last entries, oldest first, and how many were lost before them. Any goroutine may call it at any
// time.
func (l *Link) Record() (entries []Entry, lost uint64) {
	r := &l.record
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.total, uint64(len(r.ring)))
	for i := r.total - n; i < r.total; i++ {
		entries = append(entries, r.ring[i%uint64(len(r.ring))])
	}
	return entries, r.total - n
}

// WriteTo writes the record as text, an entry a line.
func (l *Link) WriteTo(w io.Writer) (int64, error) {
	entries, lost := l.Record()
	var total int64
	n, err := fmt.Fprintf(w, "# link of rank %d to rank %d: %d entries, %d before them were overwritten\n", l.rank, l.peer, len(entries), lost)
	total += int64(n)
	for _, e := range entries {
		if err != nil {
			break
		}
		n, err = fmt.Fprintln(w, e)
		total += int64(n)
	}
	return total, err
}

// save appends the record to the link's file, once.
func (l *Link) save(name string) error {
	l.record.mu.Lock()
	saved := l.record.saved
	l.record.saved = true
	l.record.mu.Unlock()
	if saved {
		return nil
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.%d-%d.txt", name, l.rank, l.peer), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%s: cannot keep a record: %w", Name, err)
	}
	b := bufio.NewWriter(f)
	_, err = l.WriteTo(b)
	for _, last := range []func() error{b.Flush, f.Close} {
		if e := last(); err == nil {
			err = e
		}
	}
	return err
}
