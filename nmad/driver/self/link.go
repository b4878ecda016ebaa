package self

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
)

// end is what the two ends of a link let each other know.
type end struct {
	closed   atomic.Bool
	sleeping atomic.Bool // ring when something arrives; the owner sets it, either takes it
	wantRoom atomic.Bool // ring when room comes up; likewise
	bell     bell        // what the owner sleeps on
	_        [padding]byte
}

// link is one end of a link; of a loop it is both.
type link struct {
	driver.Plain
	in, out      *ring
	mine, theirs *end

	taken   atomic.Uint64 // packets received, of which the last one lies in the caller's hands; Recv writes it, Arm reads it
	told    uint64        // bytes that Push has said are gone; Push's
	refused atomic.Bool   // the last Send found no room; Send writes it, Arm reads it
	pushing atomic.Bool   // the last Push moved nothing; Push writes it, Arm reads it
}

// Loop makes a link that brings back what it sends (driver.Caps.Echoes). It has no descriptor: the thread that sends
// receives, too.
func Loop() driver.Link {
	e := &end{}
	e.bell.none()
	r := &ring{}
	return &link{in: r, out: r, mine: e, theirs: e}
}

// pair makes the two ends of a link.
func pair() (a, b *link, err error) {
	x, y := &end{}, &end{}
	if err = x.bell.open(); err == nil {
		if err = y.bell.open(); err != nil {
			x.bell.close()
		}
	}
	if err != nil {
		return nil, nil, err
	}
	there, back := &ring{}, &ring{}
	return &link{in: back, out: there, mine: x, theirs: y}, &link{in: there, out: back, mine: y, theirs: x}, nil
}

// Caps implements driver.Link.
func (l *link) Caps() driver.Caps {
	return driver.Caps{MaxBody: maxBody, Short: -1, Borrows: true, Echoes: l.in == l.out, Place: driver.Place{Node: -1, Why: "it does not leave the process"}}
}

// err says why the link is of no use; nil: it is of use.
func (l *link) err() error {
	switch {
	case l.mine.closed.Load():
		return fmt.Errorf("self: %w", driver.ErrClosed)
	case l.theirs.closed.Load():
		return fmt.Errorf("self: %w: the other end was closed", driver.ErrPeerLost)
	}
	return nil
}

// wake rings for an end that has set that flag.
func (e *end) wake(flag *atomic.Bool) {
	if flag.Load() && flag.Swap(false) {
		e.bell.ring()
	}
}

// Send implements driver.Link.
func (l *link) Send(h *driver.Header, body []byte, parts [][]byte, _ bool) (bool, error) {
	if err := l.err(); err != nil {
		return false, err
	}
	ok, err := l.out.send(h, body, parts)
	if l.refused.Load() == ok {
		l.refused.Store(!ok && err == nil)
	}
	if ok {
		l.theirs.wake(&l.theirs.sleeping)
	}
	return ok, err
}

// Flush implements driver.Link: there is never anything left.
func (l *link) Flush() (bool, error) { return true, l.err() }

// Recv implements driver.Link. body lies in the ring.
func (l *link) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	taken := l.taken.Load()
	if l.in.head.Load() != taken {
		l.in.head.Store(taken)
		l.theirs.wake(&l.theirs.wantRoom)
	}
	err = l.err() // before the ring: what the other end sent last is there then
	if l.mine.closed.Load() || l.in.tail.Load() == taken {
		return nil, false, err
	}
	p := &l.in.packets[taken%cells]
	l.taken.Store(taken + 1)
	*h = p.head
	return p.body, true, nil
}

// Push implements driver.Link.
func (l *link) Push(buf []byte) (int, error) {
	if err := l.err(); err != nil || len(buf) == 0 {
		return 0, err
	}
	n := l.out.push(buf, &l.told)
	l.pushing.Store(n == 0)
	if n == 0 {
		l.theirs.wake(&l.theirs.sleeping)
	}
	return n, nil
}

// Pull implements driver.Link.
func (l *link) Pull(buf []byte) (int, error) {
	err := l.err()
	if l.mine.closed.Load() || len(buf) == 0 {
		return 0, err
	}
	n := l.in.pull(buf)
	if n == 0 {
		return 0, err
	}
	l.theirs.wake(&l.theirs.wantRoom)
	return n, nil
}

// ReturnPush implements driver.Link.
func (l *link) ReturnPush() (int, bool) {
	if !l.out.withdraw() {
		return 0, false
	}
	n := int(l.out.fetched.Load() - l.told)
	l.told += uint64(n)
	return n, true
}

// Descriptor implements driver.Link.
func (l *link) Descriptor() int { return l.mine.bell.fd }

// Arm implements driver.Link. The flags come first, then a look: the other end does it the other way round.
func (l *link) Arm(wantRoom bool) bool {
	l.mine.sleeping.Store(true)
	if wantRoom {
		l.mine.wantRoom.Store(true)
	}
	something := l.err() != nil || l.in.tail.Load() != l.taken.Load() || l.in.offered()
	if wantRoom && !something {
		small, large := l.refused.Load(), l.pushing.Load()
		something = !small && !large || small && l.out.room(l.out.tail.Load()) || large && !l.out.offered()
	}
	if something {
		l.Disarm()
	}
	return !something
}

// Disarm implements driver.Link.
func (l *link) Disarm() {
	l.mine.sleeping.Store(false)
	l.mine.wantRoom.Store(false)
	l.mine.bell.quiet()
}

// Close implements driver.Link.
func (l *link) Close() error {
	if l.mine.closed.Swap(true) {
		return nil
	}
	for !l.out.withdraw() {
		runtime.Gosched() // a piece is being copied
	}
	l.theirs.bell.ring()
	l.mine.bell.close()
	return nil
}
