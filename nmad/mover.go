package nmad

import "sync/atomic"

// A mover carries the bytes of rendezvous over the large track, in one
// direction, one request after the other in the order of their RTRs: both
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
// direction or touches the request, not even to fail it. Landing needs no lock,
// because a poller may be a hook and must not wait for one. So:
//
//	carrier: result; mover.state = landed; gate.landed++; try mu, if held go away
//	holder:  unlock mu; look at gate.landed; if not 0, try mu and take home
//
// Both look after they wrote, with sequentially consistent atomics: either the
// carrier gets the lock, or the holder that kept it from him sees the landing.
// Thus a landing never waits for the next poll, which might not come.
type mover struct {
	move  func(*Request) (int, error) // one call of the link
	queue requestQueue                // the head is what is being moved; under mu

	state  atomic.Uint32 // atHome, away, landed: as drawn above
	moving *Request      // away, landed: the request; under mu
	n      int           // landed: bytes moved; written by the carrier
	err    error         // landed: what the link said; written by the carrier

	total  uint64 // bytes moved since the gate was opened; under mu
	broken error  // what all requests are failed with, also the one that is away; under mu
}

const (
	atHome uint32 = iota
	away
	landed
)

// largestPiece bounds one call of the link, in bytes: no system call takes more
// than 2 GiB.
const largestPiece = 1 << 30

// rounds bounds the pieces that one poll moves per direction.
const rounds = 16

// partsAtOnce bounds the parts of a message that one piece takes together.
const partsAtOnce = 64

func (g *Gate) pushSome(r *Request) (int, error) {
	if r.data.parts == nil {
		return g.link.PushLarge(r.data.piece(r.moved, r.want-r.moved))
	}
	return g.moveParts(r, true)
}

func (g *Gate) pullSome(r *Request) (int, error) {
	if r.data.parts == nil {
		return g.link.PullLarge(r.data.piece(r.moved, r.want-r.moved))
	}
	return g.moveParts(r, false)
}

// moveParts moves some parts of a message, as many as the link takes whole, and a
// piece of the next one.
func (g *Gate) moveParts(r *Request, push bool) (total int, err error) {
	for range partsAtOnce {
		b := r.data.piece(r.moved+total, r.want-r.moved-total)
		if len(b) == 0 {
			break
		}
		var n int
		if push {
			n, err = g.link.PushLarge(b)
		} else {
			n, err = g.link.PullLarge(b)
		}
		if n < 0 || n > len(b) {
			return n, err // home says so
		}
		r.data.moved(n)
		if total += n; n < len(b) || err != nil {
			break
		}
	}
	if total > 0 {
		err = nil // a link breaks for ever: the next call says it again
	}
	return total, err
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

// carry moves the piece that take reserved. Without mu.
func (g *Gate) carry(m *mover) {
	m.n, m.err = m.move(m.moving)
	m.state.Store(landed)
	g.landed.Add(1)
}

// home takes in what has landed. Under mu. It says whether bytes have moved.
func (g *Gate) home(m *mover) bool {
	if m.state.Load() != landed {
		return false
	}
	g.landed.Add(-1)
	r, n, err := m.moving, m.n, m.err
	m.moving, m.err = nil, nil
	m.state.Store(atHome)
	wrong := n < 0 || n > r.want-r.moved
	if !wrong {
		m.total += uint64(n)
	}
	switch {
	case m.broken != nil:
		m.fail(g, m.broken)
	case err != nil:
		g.lose(err)
	case wrong:
		g.fail(violation(g.rank, "the driver says that it moved %d of %d bytes", n, r.want-r.moved))
	default:
		r.moved += n
		if r.moved == r.want {
			m.queue.pop()
			g.transferred(r)
		}
		g.takeLeave()
	}
	return n > 0
}

// fail ends the requests of the queue, now or, if one is away, when it comes
// home. Under mu.
func (m *mover) fail(g *Gate, err error) {
	m.broken = err
	var rest requestQueue
	for r := m.queue.pop(); r != nil; r = m.queue.pop() {
		if r == m.moving {
			rest.push(r)
		} else {
			g.complete(r, err)
		}
	}
	m.queue = rest
}

// resting says that nobody is inside the link for this direction. Under mu.
func (m *mover) resting() bool { return m.state.Load() == atHome }

// homeAll takes home whatever has landed. Under mu. It says whether bytes have moved.
func (g *Gate) homeAll() bool {
	pulled, pushed := g.home(&g.pull), g.home(&g.push)
	return pulled || pushed
}
