package simnet

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Options are the measures of a simulated network. Zero fields get the defaults.
type Options struct {
	MaxBody int // bytes; default 64
	Packets int // that the small track holds in one direction; default 8
	Large   int // bytes that the large track holds in one direction; default 256
	Rate    int // bytes of the large track that arrive in a tick, in each direction; default: at once

	Syscalls bool // what a link says of itself in its Caps
}

func (o *Options) complete() {
	if o.MaxBody == 0 {
		o.MaxBody = 64
	}
	if o.Packets == 0 {
		o.Packets = 8
	}
	if o.Large == 0 {
		o.Large = 256
	}
}

type packet struct {
	head driver.Header
	body []byte
}

// cable is what both ends of a connection share.
type cable struct {
	mu   sync.Mutex
	opt  Options
	ways [2]way
	ends [2]*Link
}

// way is one direction: what the side of that number has sent. Slices are reused, so that a steady exchange allocates
// nothing.
type way struct {
	packets []packet // arrived from 0 to visible-1, on the way from visible on
	first   int
	visible int // packets that Recv may see, counted from first
	large   []byte
	start   int
	arrived int // bytes of large from start on that Pull may see
	spare   [][]byte

	batch   bool // until Flush packets stay in the sender's buffer
	packed  int  // packets that were taken
	carried int  // calls of the network that carried them

	held     bool // no room, whatever the measures
	delayed  bool // what is sent stays invisible until Deliver
	buffered bool // Send takes one packet beyond what fits, which Flush moves on
	excess   int  // packets at the end that are still in the sender's buffer
	broken   error
	closed   bool // the side of that number has closed
}

// Link is one end of a simulated connection. Beyond what driver.Link asks for it may be called by any goroutine at any
// time.
type Link struct {
	driver.BasicLink
	c    *cable
	side int

	armed, armedRoom, woken bool // under c.mu
	current                 []byte
}

// Pair returns the two ends of a new connection.
func Pair(o Options) (a, b *Link) {
	o.complete()
	c := &cable{opt: o}
	a, b = &Link{c: c, side: 0}, &Link{c: c, side: 1}
	c.ends = [2]*Link{a, b}
	return a, b
}

func (l *Link) peer() *Link { return l.c.ends[1-l.side] }

func (l *Link) out() *way { return &l.c.ways[l.side] }
func (l *Link) in() *way  { return &l.c.ways[1-l.side] }

func (l *Link) err() error {
	switch {
	case l.out().closed:
		return driver.ErrClosed
	case l.out().broken != nil:
		return l.out().broken
	case l.in().closed:
		return fmt.Errorf("simulated: %w", driver.ErrPeerLost)
	}
	return nil
}

func (l *Link) lock() func() {
	l.c.mu.Lock()
	return l.c.mu.Unlock
}

// Caps are as in Options. That there may be bytes left to flush is always so.
func (l *Link) Caps() driver.Caps {
	return driver.Caps{MaxBody: l.c.opt.MaxBody, Short: -1, Syscalls: l.c.opt.Syscalls, Buffered: true, Locality: driver.Locality{Node: -1}}
}

func (w *way) count() int { return len(w.packets) - w.first }

func (w *way) room(o *Options) bool { return !w.held && w.count()-w.excess < o.Packets }

// Send implements driver.Link. Its buffer holds as many packets as come.
func (l *Link) Send(h *driver.Header, body []byte, parts [][]byte, more bool) (bool, error) {
	defer l.lock()()
	if err := l.err(); err != nil {
		return false, err
	}
	if n := len(body) + driver.Length(parts); n > l.c.opt.MaxBody || int(h.Body) != n {
		return false, driver.ErrBody
	}
	w := l.out()
	if more {
		w.batch = true
		w.packed++
		w.excess++
		l.put(w, *h, body, parts)
		return true, nil
	}
	l.flush()
	if w.excess > 0 || !w.room(&l.c.opt) && !w.buffered {
		return false, nil
	}
	if !w.room(&l.c.opt) {
		w.excess++
	}
	w.packed++
	w.carried++
	l.put(w, *h, body, parts)
	return true, nil
}

func (l *Link) put(w *way, h driver.Header, body []byte, parts [][]byte) {
	w.compact()
	var b []byte
	if n := len(w.spare); n > 0 {
		b, w.spare = w.spare[n-1][:0], w.spare[:n-1]
	}
	b = append(b, body...)
	for _, p := range parts {
		b = append(b, p...)
	}
	w.packets = append(w.packets, packet{h, b})
	l.arrive(w)
}

// compact moves the packets to the front when most of the slice lies before them.
func (w *way) compact() {
	if w.first > 64 && w.first > len(w.packets)/2 || w.first == len(w.packets) {
		n := copy(w.packets, w.packets[w.first:])
		clear(w.packets[n:])
		w.packets, w.first = w.packets[:n], 0
	}
}

// arrive makes what is not held back visible and rings.
func (l *Link) arrive(w *way) {
	if !w.delayed && w.visible < w.count()-w.excess {
		w.visible = w.count() - w.excess
		l.peer().ring(false)
	}
}

func (l *Link) ring(room bool) {
	if l.armed && (!room || l.armedRoom) {
		l.woken = true
	}
}

func (l *Link) flush() {
	w := l.out()
	for w.excess > 0 && !w.held && w.count()-w.excess < l.c.opt.Packets {
		w.excess--
	}
	l.arrive(w)
}

// Flush implements driver.Link.
func (l *Link) Flush() (bool, error) {
	defer l.lock()()
	if err := l.err(); err != nil {
		return false, err
	}
	w := l.out()
	if w.batch && w.excess > 0 {
		w.carried++
	}
	w.batch = false
	l.flush()
	return w.excess == 0, nil
}

// Carried says how many packets this end has sent, and in how many calls of the network.
func (l *Link) Carried() (packets, calls int) {
	defer l.lock()()
	return l.out().packed, l.out().carried
}

// Recv implements driver.Link.
func (l *Link) Recv(h *driver.Header) ([]byte, bool, error) {
	defer l.lock()()
	w := l.in()
	if l.current != nil {
		w.spare = append(w.spare, l.current)
		l.current = nil
	}
	if w.visible > 0 && !l.out().closed {
		p := &w.packets[w.first]
		w.first++
		w.visible--
		*h, l.current = p.head, p.body
		p.body = nil
		l.peer().ring(true)
		return l.current, true, nil
	}
	return nil, false, l.err()
}

// Push implements driver.Link.
func (l *Link) Push(buf []byte) (int, error) {
	defer l.lock()()
	if err := l.err(); err != nil {
		return 0, err
	}
	w := l.out()
	if w.start == len(w.large) {
		w.large, w.start = w.large[:0], 0
	}
	n := min(len(buf), l.c.opt.Large-(len(w.large)-w.start))
	if w.held || n <= 0 {
		return 0, nil
	}
	w.large = append(w.large, buf[:n]...)
	if l.c.opt.Rate == 0 {
		w.arrived += n
		l.peer().ring(false)
	}
	return n, nil
}

// Pull implements driver.Link.
func (l *Link) Pull(buf []byte) (int, error) {
	defer l.lock()()
	w := l.in()
	if n := copy(buf, w.large[w.start:w.start+w.arrived]); n > 0 && !l.out().closed {
		w.start += n
		w.arrived -= n
		l.peer().ring(true)
		return n, nil
	}
	return 0, l.err()
}

// Descriptor is -1: nothing can be waited for in the kernel.
func (l *Link) Descriptor() int { return -1 }

// Arm implements driver.Link.
func (l *Link) Arm(wantRoom bool) bool {
	defer l.lock()()
	in, out := l.in(), l.out()
	if in.visible > 0 || in.arrived > 0 || l.err() != nil || wantRoom && out.room(&l.c.opt) && len(out.large)-out.start < l.c.opt.Large {
		l.armed, l.armedRoom, l.woken = false, false, false // as shared memory does it
		return false
	}
	l.armed, l.armedRoom = true, l.armedRoom || wantRoom
	return true
}

// Disarm implements driver.Link.
func (l *Link) Disarm() {
	defer l.lock()()
	l.armed, l.armedRoom, l.woken = false, false, false
}

// Close implements driver.Link.
func (l *Link) Close() error {
	defer l.lock()()
	l.out().closed = true
	l.peer().ring(false)
	return nil
}
