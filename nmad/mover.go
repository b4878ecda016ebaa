package nmad

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// A mover carries the bytes of rendezvous over the large track of one rail, in one
// direction, one chunk after the other in the order of their RTRs: both
// sides have that order, so the bytes need no framing.
//
// Copies are long (a megabyte takes tens of microseconds), so they are made without
// the lock of the gate. Whoever polls takes the next piece under the lock, lets
// the lock go, copies, and takes the result home under the lock again:
//
//	         take, under mu            the copy is over
//	atHome ------------------> away ---------------------> landed
//	   ^                                                     |
//	   '------------- home, under mu, by anybody <-----------'
//
// away belongs to the one who took: nobody else calls the link for this
// direction or touches the chunk, not even to fail it. Landing needs no lock,
// because a poller may be a hook and must not wait for one. So:
//
//	carrier: result; mover.state = landed; gate.landed++; try mu, if held go away
//	holder:  unlock mu; look at gate.landed; if not 0, try mu and take home
//
// Both look after they wrote, with sequentially consistent atomics: either the
// carrier gets the lock, or the holder that kept it from him sees the landing.
// Thus a landing never waits for the next poll, which might not come.
//
// A link that borrows may have the buffer of the head of the queue also while the mover is at
// home. So when the requests are failed the head lands, having moved nothing, and gets home
// when the link has given its buffer back; the others fail at once. A peer that has the
// buffer for longer than evictAfter after the gate's end is evicted by the link.
type mover struct {
	call  func([]byte) (int, error) // the link's Push or Pull
	back  func(bool) (int, bool)    // its ReturnPush or ReturnPull, if it borrows; else nil
	pulls bool                      // it brings bytes in
	queue chunkQueue                // the head is what is being moved; under mu

	state  atomic.Uint32 // atHome, away, landed: as drawn above
	moving *chunk        // away, landed: the chunk; under mu
	tray   *tray         // short pieces of the chunk at the head, if there are any under way; away: the carrier's
	n      int           // landed: bytes moved; written by the carrier
	err    error         // landed: what the link said; written by the carrier

	bytes  uint64 // moved since the gate was opened; under mu
	count  uint64 // chunks, likewise
	under  *int   // how many chunks all movers of this direction have, a count of the gate; under mu
	broken error  // what all requests are failed with, also the one that is away; under mu
	kept   bool   // landed, broken, and the link has not given the buffer back; under mu
}

const (
	atHome uint32 = iota
	away
	landed
)

// largestPiece bounds one call of the link, in bytes: no system call takes more
// than 2 GiB.
const largestPiece = 1 << 30

// evictAfter is how long an ended gate waits for a buffer into which its peer may still be writing a piece. That
// takes microseconds, and longer only where the peer is stopped, or means to keep it.
const evictAfter = time.Second

// rounds bounds the pieces that one poll moves per direction.
const rounds = 16

// some moves a piece of a chunk. Without mu.
func (m *mover) some(c *chunk) (int, error) {
	p, left := &c.req.data, c.size-c.moved
	if p.whole() {
		from := c.offset + c.moved
		return m.call(p.buf[from : from+min(left, largestPiece)])
	}
	return m.someParts(c, left)
}

// take reserves the next piece for the caller, who must call carry after having
// released the lock. Under mu.
func (m *mover) take() bool {
	if m.queue.empty() || m.state.Load() != atHome {
		return false
	}
	m.moving = m.queue.head
	m.state.Store(away)
	return true
}

// takeAll reserves the next pieces of all rails, both ways, for the caller: a bit for each
// mover, to be given to carryAll after having released the lock. Under mu.
func (g *Gate) takeAll() (taken uint32) {
	if g.pulling+g.pushing == 0 {
		return 0
	}
	for i := range g.rails {
		if g.rails[i].pull.take() {
			taken |= 1 << (2 * i)
		}
		if g.rails[i].push.take() {
			taken |= 2 << (2 * i)
		}
	}
	return taken
}

// carryAll moves what takeAll reserved. Without mu.
func (g *Gate) carryAll(taken uint32) {
	for ; taken != 0; taken &= taken - 1 {
		i := bits.TrailingZeros32(taken)
		if l := &g.rails[i/2]; i%2 == 0 {
			g.carry(&l.pull)
		} else {
			g.carry(&l.push)
		}
	}
}

// carry moves the piece that take reserved. Without mu.
func (g *Gate) carry(m *mover) {
	m.n, m.err = m.some(m.moving)
	m.state.Store(landed)
	g.landed.Add(1)
}

// home takes in what has landed. Under mu. It says whether bytes have moved.
func (g *Gate) home(l *rail, m *mover) bool {
	if m.state.Load() != landed {
		return false
	}
	if m.broken != nil && !g.giveBack(m) {
		return false
	}
	if m.kept {
		m.kept = false
		g.kept--
	} else {
		g.landed.Add(-1)
	}
	c, n, err := m.moving, m.n, m.err
	m.moving, m.err = nil, nil
	m.state.Store(atHome)
	wrong := n < 0 || n > c.size-c.moved
	if !wrong {
		m.bytes += uint64(n)
	}
	switch {
	case m.broken != nil:
		if wrong {
			n = 0
		}
		g.homeLate(m, n)
	case err != nil:
		g.loseRail(l, err)
	case wrong:
		g.fail(violation(g.rank, "the driver says that it moved %d of %d bytes", n, c.size-c.moved))
	default:
		c.moved += n
		c.req.moved += n
		m.queue.left -= n
		if c.moved == c.size {
			g.arrived(m)
		}
		if !g.rx.deferred.empty() && m == &l.pull && l.idle() {
			g.rx.answers.prepend(&g.rx.deferred)
			g.drain()
		}
		g.takeLeave()
	}
	return n > 0
}

// giveBack says whether the link has given the buffer back of the chunk that has landed. One
// that it keeps does not count as landed: whoever has the lock would try again at once.
func (g *Gate) giveBack(m *mover) bool {
	if m.back == nil {
		return true
	}
	n, ok := m.back(g.end != nil && time.Since(g.ended) > evictAfter)
	if m.tray != nil && m.pulls {
		n = 0 // it was not scattered, and will not be
	}
	if m.n += n; !ok && !m.kept {
		m.kept = true
		g.kept++
		g.landed.Add(-1)
	}
	return ok
}

// arrived ends the chunk at the head, all of whose bytes have moved.
func (g *Gate) arrived(m *mover) {
	c := m.queue.pop()
	r := c.req
	m.count++
	r.short = r.short || c.short
	g.forget(m, c)
	if r.moved == r.want {
		g.transferred(r)
	}
}

// homeLate takes in a piece of n bytes that landed when the gate had ended. If with it a
// message is complete then only the carrier was slow: the peer may have had all of it,
// and have left.
func (g *Gate) homeLate(m *mover, n int) {
	c := m.queue.pop()
	r := c.req
	r.moved += n
	r.short = r.short || c.short
	g.forget(m, c)
	switch {
	case r.moved == r.want:
		g.transferred(r)
	case r.chunks == 0: // else it ends with the last of them
		g.complete(r, m.broken)
	}
}

// failMover ends the chunks of the queue, now or, if one is away, when it comes
// home. Under mu.
func (g *Gate) failMover(m *mover, err error) {
	m.broken = err
	lent := m.back != nil && m.resting() && !m.queue.empty()
	if lent {
		m.moving, m.n = m.queue.head, 0
		m.state.Store(landed)
		g.landed.Add(1)
	}
	var rest chunkQueue
	for c := m.queue.pop(); c != nil; c = m.queue.pop() {
		if c == m.moving {
			rest.push(c)
			continue
		}
		r := c.req
		g.forget(m, c)
		if r.chunks == 0 {
			g.complete(r, err)
		}
	}
	m.queue = rest
	if lent {
		g.home(nil, m) // broken as it is, its rail does not matter
	}
}

// resting says that nobody is inside the link for this direction. Under mu.
func (m *mover) resting() bool { return m.state.Load() == atHome }

// homeAll takes home whatever has landed. Under mu. It says whether bytes have moved.
func (g *Gate) homeAll() (moved bool) {
	if g.landed.Load() == 0 && g.kept == 0 {
		return false
	}
	for i := range g.rails {
		l := &g.rails[i]
		moved = g.home(l, &l.pull) || moved
		moved = g.home(l, &l.push) || moved
	}
	return moved
}
