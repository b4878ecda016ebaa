package fault

import (
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Link is a link of another driver, with faults. Calls that it does not define are those of that link.
type Link struct {
	driver.Link
	maxBody    int  // of the inner link, bytes
	plan       Plan // empty where the plan does not apply to these ranks
	rank, peer int
	broken     atomic.Pointer[error] // why the connection has ended; nil: it has not
	record     record

	// The refusals that were ours: the link below does not know that a sender waits for room. Written
	// by the direction, read by Arm.
	refused [directions]atomic.Bool

	// What belongs to the callers of the directions.
	dice   [directions]dice
	passed [directions]uint64 // packets or bytes that have passed
}

// newLink returns a link around inner. number tells the links between the two ranks apart.
func newLink(inner driver.Link, p Plan, own, peer int, number uint64) *Link {
	l := &Link{Link: inner, maxBody: inner.Caps().MaxBody, rank: own, peer: peer}
	if p.Ring == 0 {
		p.Ring = DefaultRing
	}
	l.plan = Plan{Ring: p.Ring, Trace: p.Trace}
	if p.Rank.matches(own) && p.Peer.matches(peer) {
		l.plan = p
	}
	l.record.init(p.Ring)
	for i := range l.dice {
		l.dice[i].seed(p.Seed, own, peer, number, i)
	}
	return l
}

// Caps implements driver.Link: those of the link inside, but that all bytes of long messages pass Push and Pull, where
// plans count them.
func (l *Link) Caps() driver.Caps {
	c := l.Link.Caps()
	c.Exposes = false
	return c
}

// Fetch implements driver.Link.
func (l *Link) Fetch(buf []byte, address uint64) (int, error) {
	if l.broken.Load() != nil {
		return 0, l.err()
	}
	return l.Link.Fetch(buf, address)
}

// Send implements driver.Link.
func (l *Link) Send(h *driver.Header, body []byte, parts [][]byte, more bool) (bool, error) {
	if l.wellFormed(h, len(body)+driver.Length(parts)) && l.refuse(sends) {
		return false, l.err()
	}
	ok, err := l.Link.Send(h, body, parts, more)
	if ok && err == nil {
		l.record.add(Entry{Event: Sent, Header: *h})
		l.passed[sends]++
		l.cutAfter("send", sends)
	}
	l.dice[sends].stall(l.plan.Stall)
	return ok, err
}

// wellFormed reports whether the inner link can take a packet at all. It refuses others for good.
func (l *Link) wellFormed(h *driver.Header, size int) bool {
	return int64(h.Body) == int64(size) && size <= l.maxBody
}

// refuse reports whether a call finds no room, or no connection any more.
func (l *Link) refuse(direction int) bool {
	if l.broken.Load() != nil {
		return true
	}
	yes := l.dice[direction].happens(l.plan.Refuse)
	if yes || l.refused[direction].Load() {
		l.refused[direction].Store(yes)
	}
	if yes {
		l.record.add(Entry{Event: Refused})
	}
	return yes
}

// Flush implements driver.Link.
func (l *Link) Flush() (bool, error) {
	if err := l.err(); err != nil {
		return false, err
	}
	return l.Link.Flush()
}

// Recv implements driver.Link.
func (l *Link) Recv(h *driver.Header) (body []byte, ok bool, err error) {
	d := &l.dice[recvs]
	if err := l.err(); err != nil || d.silent(l.plan.Delay) {
		return nil, false, err
	}
	if body, ok, err = l.Link.Recv(h); ok && err == nil {
		l.passed[recvs]++
		if f := l.plan.Flip; f.At != 0 && f.At == l.passed[recvs] {
			flip(h, f.Where, d)
			l.record.add(Entry{Event: Flipped, Header: *h})
		} else {
			l.record.add(Entry{Event: Received, Header: *h})
		}
		l.cutAfter("recv", recvs)
		d.stall(l.plan.Stall)
	}
	return body, ok, err
}

// flip inverts a random bit of a field.
func flip(h *driver.Header, field string, d *dice) {
	switch field {
	case "kind":
		h.Kind ^= 1 << d.intn(8)
	case "flags":
		h.Flags ^= 1 << d.intn(8)
	case "body":
		h.Body ^= 1 << d.intn(32)
	case "tag":
		h.Tag ^= 1 << d.intn(64)
	case "size":
		h.Size ^= 1 << d.intn(48)
	case "context":
		h.Context ^= 1 << d.intn(16)
	case "cookie":
		h.Cookie ^= 1 << d.intn(32)
	case "seq":
		h.Seq ^= 1 << d.intn(32)
	}
}

// Push implements driver.Link.
func (l *Link) Push(buf []byte) (int, error) {
	if l.refuse(pushes) {
		return 0, l.err()
	}
	piece := l.piece(buf, "push", pushes)
	n, err := l.Link.Push(piece)
	if n == len(piece) && n < len(buf) {
		l.refused[pushes].Store(true) // there is room for more, and the link below would not say so
	}
	l.noteMoved(Pushed, "push", pushes, n)
	return n, err
}

// Pull implements driver.Link.
func (l *Link) Pull(buf []byte) (int, error) {
	if err := l.err(); err != nil || l.dice[pulls].silent(l.plan.Delay) {
		return 0, err
	}
	n, err := l.Link.Pull(l.piece(buf, "pull", pulls))
	l.noteMoved(Pulled, "pull", pulls, n)
	return n, err
}

// piece returns the part of buf that one call may move: less than all by the plan, and nothing beyond the cut.
func (l *Link) piece(buf []byte, where string, direction int) []byte {
	d := &l.dice[direction]
	if len(buf) > 1 && d.happens(l.plan.Short) {
		buf = buf[:1+d.intn(len(buf)-1)]
	}
	if c := l.plan.Cut; c.Where == where {
		buf = buf[:min(uint64(len(buf)), c.At-l.passed[direction])]
	}
	return buf
}

// noteMoved records that a call has moved n bytes.
func (l *Link) noteMoved(e Event, where string, direction, n int) {
	if n <= 0 {
		return
	}
	l.record.add(Entry{Event: e, Header: driver.Header{Size: uint64(n)}})
	l.passed[direction] += uint64(n)
	l.cutAfter(where, direction)
	l.dice[direction].stall(l.plan.Stall)
}

// cutAfter ends the connection if the plan says so here. The call that got there still has its result; later ones
// fail.
func (l *Link) cutAfter(where string, direction int) {
	c := l.plan.Cut
	if c.At == 0 || c.Where != where || l.passed[direction] < c.At {
		return
	}
	err := fmt.Errorf("%s: link of rank %d to rank %d: %w: cut as planned, after %s %d", Name, l.rank, l.peer, driver.ErrPeerLost, where, c.At)
	if l.broken.CompareAndSwap(nil, &err) {
		l.record.add(Entry{Event: Cut})
	}
}

// err returns why the connection has ended; nil: it has not.
func (l *Link) err() error {
	if err := l.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// Arm implements driver.Link.
func (l *Link) Arm(wantRoom bool) bool {
	if l.broken.Load() != nil {
		return false
	}
	if wantRoom {
		// Said once: a sender that is still refused when it has tried again comes back.
		packet, large := l.refused[sends].Swap(false), l.refused[pushes].Swap(false)
		if packet || large {
			return false
		}
	}
	return l.Link.Arm(wantRoom)
}

// Close implements driver.Link. It writes the record if the plan says where to.
func (l *Link) Close() error {
	err := l.Link.Close()
	closed := fmt.Errorf("%s: link of rank %d to rank %d: %w", Name, l.rank, l.peer, driver.ErrClosed)
	l.broken.Store(&closed)
	if l.plan.Trace != "" {
		if werr := l.save(l.plan.Trace); err == nil {
			err = werr
		}
	}
	return err
}
