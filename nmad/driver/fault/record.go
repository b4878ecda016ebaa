package fault

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Event is what an entry of a record tells.
type Event uint8

const (
	Sent     Event = iota + 1 // a packet left
	Received                  // a packet came
	Pushed                    // bytes went onto the large track, Header.Size of them
	Pulled                    // and came from it
	Refused                   // a call was told that there is no room
	Flipped                   // a packet came, with a bit of its header changed
	Cut                       // the connection was lost
)

func (e Event) String() string {
	return [...]string{"nothing", "sent", "received", "pushed", "pulled", "refused", "flipped", "cut"}[e]
}

// Entry is one line of a record.
type Entry struct {
	After  time.Duration // since the link was made
	Event  Event
	Header driver.Header // of the packet
}

// String is how a record is written: time, event, and what the header says.
func (e Entry) String() string {
	at := fmt.Sprintf("%12.3f us %-8s", float64(e.After.Nanoseconds())/1000, e.Event)
	h := e.Header
	switch e.Event {
	case Sent, Received, Flipped:
		return fmt.Sprintf("%s kind=%d tag=%#x size=%d body=%d cookie=%#x seq=%d", at, h.Kind, h.Tag, h.Size, h.Body, h.Cookie, h.Seq)
	case Pushed, Pulled:
		return fmt.Sprintf("%s bytes=%d", at, h.Size)
	}
	return at
}

// record is a ring of the last entries of a link. It allocates nothing once it is made.
type record struct {
	began time.Time
	mu    sync.Mutex // held for the time of a copy
	ring  []Entry
	total uint64 // entries ever; those from total-len(ring) on are there
	saved bool
}

func (r *record) init(size int) { r.began, r.ring = time.Now(), make([]Entry, size) }

func (r *record) add(e Entry) {
	e.After = time.Since(r.began)
	r.mu.Lock()
	r.ring[r.total%uint64(len(r.ring))] = e
	r.total++
	r.mu.Unlock()
}

// Record returns the last entries, oldest first, and how many were lost before them. Any
// goroutine may call it at any time.
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
	n, err := fmt.Fprintf(w, "# link of rank %d to rank %d: %d entries, %d before them were overwritten\n", l.own, l.peer, len(entries), lost)
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

// save writes the record, once, to the end of the file of that link.
func (l *Link) save(name string) error {
	l.record.mu.Lock()
	saved := l.record.saved
	l.record.saved = true
	l.record.mu.Unlock()
	if saved {
		return nil
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.%d-%d.txt", name, l.own, l.peer), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
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
