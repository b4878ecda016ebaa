package self

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Name is what the network is called.
const Name = "self"

const (
	cells   = 64       // packets that the ring holds; power of two
	maxBody = 16 << 10 // bytes
	atOnce  = 1 << 20  // bytes that one Pull copies at most, for which Close may have to wait
	padding = 128      // bytes between what different threads write
)

// link is the link of a process to itself. Each field belongs to the caller of one direction, which alone writes
// it; others read the atomic ones.
type link struct {
	driver.BasicLink
	closed atomic.Bool

	// The small track.
	packets  [cells]packet
	sent     atomic.Uint64 // packets; Send's
	_        [padding]byte
	released atomic.Uint64 // packets whose places are free again; Recv's
	received uint64        // packets received; the caller of Recv still has the last one; Recv's
	_        [padding]byte

	// The large track: the bytes from base on, of a stream that has no end. Push changes buf and base while all has
	// been fetched.
	buf      []byte
	base     uint64
	reported uint64        // bytes that Push has reported as gone
	end      atomic.Uint64 // where buf ends in the stream; Push's
	_        [padding]byte
	fetched  atomic.Uint64 // how far Pull is; Pull's
	state    atomic.Uint32 // unused, copying, withdrawn; see doc.go
}

// packet is a place in the ring. Its body grows to the longest one that it has held.
type packet struct {
	head driver.Header
	body []byte
}

const (
	unused = iota
	copying
	withdrawn
)

// Loop returns a new link of this process to itself (driver.Caps.Echoes).
func Loop() driver.Link { return &link{} }

// Caps implements driver.Link.
func (*link) Caps() driver.Caps {
	return driver.Caps{
		MaxBody: maxBody, Short: -1, Borrows: true, Echoes: true,
		Locality: driver.Locality{Node: -1, Why: "it does not leave the process"},
	}
}

// err returns why the link cannot be used; nil if it can.
func (l *link) err() error {
	if l.closed.Load() {
		return fmt.Errorf("self: %w", driver.ErrClosed)
	}
	return nil
}

// Send implements driver.Link.
func (l *link) Send(h *driver.Header, body []byte, parts [][]byte, _ bool) (bool, error) {
	if err := l.err(); err != nil {
		return false, err
	}
	if n := len(body) + driver.Length(parts); n != int(h.Body) || n > maxBody {
		return false, fmt.Errorf("self: %w: %d bytes, header says %d, at most %d", driver.ErrBody, n, h.Body, maxBody)
	}
	at := l.sent.Load()
	if at-l.released.Load() == cells {
		return false, nil
	}
	p := &l.packets[at%cells]
	p.head = *h
	p.body = append(p.body[:0], body...)
	for _, part := range parts {
		p.body = append(p.body, part...)
	}
	l.sent.Store(at + 1)
	return true, nil
}

// Flush implements driver.Link: there is never anything left.
func (l *link) Flush() (bool, error) { return true, l.err() }

// Recv implements driver.Link. body lies in the ring.
func (l *link) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	if l.released.Load() != l.received {
		l.released.Store(l.received)
	}
	if err := l.err(); err != nil || l.sent.Load() == l.received {
		return nil, false, err
	}
	p := &l.packets[l.received%cells]
	l.received++
	*h = p.head
	return p.body, true, nil
}

// Push implements driver.Link: it offers buf, unless an earlier buffer is not fetched yet.
func (l *link) Push(buf []byte) (int, error) {
	if err := l.err(); err != nil || len(buf) == 0 {
		return 0, err
	}
	if n := l.newlyFetched(); n > 0 {
		return n, nil
	}
	if end := l.end.Load(); l.reported == end && l.state.Load() != withdrawn {
		l.buf, l.base = buf, end
		l.end.Store(end + uint64(len(buf)))
	}
	return 0, nil
}

// newlyFetched returns how many bytes were fetched since the last call.
func (l *link) newlyFetched() int {
	n := l.fetched.Load() - l.reported
	l.reported += n
	return int(n)
}

// Pull implements driver.Link.
func (l *link) Pull(buf []byte) (int, error) {
	if err := l.err(); err != nil || len(buf) == 0 {
		return 0, err
	}
	at := l.fetched.Load()
	if at == l.end.Load() || !l.state.CompareAndSwap(unused, copying) {
		return 0, nil
	}
	from := l.buf[at-l.base:]
	n := copy(buf, from[:min(len(from), atOnce)])
	l.fetched.Store(at + uint64(n))
	l.state.Store(unused)
	return n, nil
}

// withdraw takes back what was offered. It returns false if Pull is copying a piece.
func (l *link) withdraw() bool {
	return l.state.CompareAndSwap(unused, withdrawn) || l.state.Load() == withdrawn
}

// ReturnPush implements driver.Link.
func (l *link) ReturnPush() (int, bool) {
	if !l.withdraw() {
		return 0, false
	}
	return l.newlyFetched(), true
}

// Descriptor implements driver.Link: there is nothing to wait for.
func (*link) Descriptor() int { return -1 }

// Arm implements driver.Link: nothing could be waited for.
func (*link) Arm(bool) bool { return false }

// Disarm implements driver.Link.
func (*link) Disarm() {}

// Close implements driver.Link.
func (l *link) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	for !l.withdraw() {
		runtime.Gosched() // a piece is being copied
	}
	return nil
}
