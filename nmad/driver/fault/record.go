package fault

import (
	"fmt"
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
