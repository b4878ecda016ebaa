package self

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
)

const (
	cells   = 64       // packets that a ring holds; power of two
	maxBody = 16 << 10 // bytes
	atOnce  = 1 << 20  // bytes that one Pull copies at most, for which Close may have to wait
	padding = 128      // bytes between what different cores write
)

// ring is one direction of a link.
type ring struct {
	packets [cells]packet
	tail    atomic.Uint64 // packets sent; the sender writes it, the receiver reads it
	_       [padding - 8]byte
	head    atomic.Uint64 // packets whose place is free again; the receiver writes it, the sender reads it
	_       [padding - 8]byte

	// The large track: the bytes from base on, of a stream that has no end. The pusher changes buf and base while all has
	// been fetched.
	buf     []byte
	base    uint64
	end     atomic.Uint64 // where buf ends in the stream; the pusher writes it
	_       [padding - 8]byte
	fetched atomic.Uint64 // how far Pull is; the puller writes it
	state   atomic.Uint32 // free, copying, withdrawn; see doc.go
	_       [padding - 16]byte
}

// packet is a place in the ring. Its body grows to the longest that it has held.
type packet struct {
	head driver.Header
	body []byte
}

const (
	free = iota
	copying
	withdrawn
)

// send puts a packet into the ring. False: it is full.
func (r *ring) send(h *driver.Header, body []byte, parts [][]byte) (bool, error) {
	if n := len(body) + driver.Length(parts); n != int(h.Body) || n > maxBody {
		return false, fmt.Errorf("self: %w: %d bytes, header says %d, at most %d", driver.ErrBody, n, h.Body, maxBody)
	}
	tail := r.tail.Load()
	if !r.room(tail) {
		return false, nil
	}
	p := &r.packets[tail%cells]
	p.head = *h
	p.body = append(p.body[:0], body...)
	for _, part := range parts {
		p.body = append(p.body, part...)
	}
	r.tail.Store(tail + 1) // the look at the receiver's flag comes after it
	return true, nil
}

// room says whether a packet fits behind so many.
func (r *ring) room(tail uint64) bool { return tail-r.head.Load() < cells }

// push offers buf, unless an offer is out, and says how much of that was fetched beyond told.
func (r *ring) push(buf []byte, told *uint64) int {
	fetched, end := r.fetched.Load(), r.end.Load()
	if n := int(fetched - *told); n > 0 {
		*told = fetched
		return n
	}
	if fetched == end && r.state.Load() != withdrawn {
		r.buf, r.base = buf, end
		r.end.Store(end + uint64(len(buf))) // the look at the puller's flag comes after it
	}
	return 0
}

// pull copies from what is offered.
func (r *ring) pull(buf []byte) int {
	at := r.fetched.Load()
	if at == r.end.Load() || !r.state.CompareAndSwap(free, copying) {
		return 0
	}
	from := r.buf[at-r.base:]
	n := copy(buf, from[:min(len(from), atOnce)])
	r.fetched.Store(at + uint64(n)) // the look at the pusher's flag comes after it
	r.state.Store(free)
	return n
}

// offered says whether Pull would copy something.
func (r *ring) offered() bool { return r.fetched.Load() != r.end.Load() && r.state.Load() != withdrawn }

// withdraw takes back what was offered. False: a piece is being copied.
func (r *ring) withdraw() bool {
	return r.state.CompareAndSwap(free, withdrawn) || r.state.Load() == withdrawn
}
