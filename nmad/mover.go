package nmad

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// A mover carries the bytes of a flow.Stream over the large track of one rail, in one
// direction.
//
// Copies are long (a megabyte takes tens of microseconds), so they are made without
// the lock of the gate. A poller takes the next piece under the lock, lets
// the lock go, copies, and takes the result home under the lock again:
//
//	         take, under mu            the copy is over
//	atHome ------------------> away ---------------------> landed
//	   ^                                                     |
//	   '------------- home, under mu, by any holder <--------'
//
// away belongs to the thread that took: no other one calls the link for this
// direction or touches the chunk, not even to fail it. Landing needs no lock,
// because a poller may be a hook and must not wait for one. So:
//
//	carrier: result; mover.state = landed; gate.inbox.due++; try mu, if held go away
//	holder:  unlock mu; look at gate.inbox.due; if above 0, try mu and take home
//
// (due counts what else is left for the holder, too: inbox.go.)
//
// Both look after they wrote, with sequentially consistent atomics: either the
// carrier gets the lock, or the holder that kept it from him sees the landing.
// Thus a landing never waits for the next poll, which might not come.
//
// A link that borrows may have the buffer of the head of the stream also while the mover is at
// home. So when the requests are failed the head lands, having moved nothing, and gets home
// when the link has given its buffer back; the others fail at once. A peer that has the
// buffer for longer than evictAfter after the gate's end is evicted by the link.
type mover struct {
	stream *flow.Stream              // under mu, but for what is away
	dir    flow.Direction            // of it
	call   func([]byte) (int, error) // the link's Push or Pull
	back   func(bool) (int, bool)    // its ReturnPush or ReturnPull, if it borrows; else nil

	state atomic.Uint32 // atHome, away, landed: as drawn above
	n     int           // landed: bytes moved; written by the carrier
	err   error         // landed: what the link said; written by the carrier
	kept  bool          // landed, broken, and the link has not given the buffer back; under mu
}

const (
	atHome uint32 = iota
	away
	landed
)

// evictAfter is how long an ended gate waits for a buffer into which its peer may still be writing a piece. That
// takes microseconds, and longer only where the peer is stopped, or means to keep it.
const evictAfter = time.Second

// rounds bounds the pieces that one poll moves per direction.
const rounds = 16

// take reserves the next piece for the caller, which must call carry after having
// released the lock. Under mu.
func (m *mover) take() bool {
	if m.stream.Empty() || m.state.Load() != atHome {
		return false
	}
	m.stream.Take()
	m.state.Store(away)
	return true
}

// resting says that no thread is inside the link for this direction. Under mu.
func (m *mover) resting() bool { return m.state.Load() == atHome }

// carry moves the piece that take reserved. Without mu.
func (l *rail) carry(m *mover) {
	m.n, m.err = m.stream.Carry(m.call)
	m.state.Store(landed)
	l.gate.inbox.due.Add(1)
}

// home takes in what has landed. Under mu. It says whether bytes have moved.
func (l *rail) home(m *mover) bool {
	g := l.gate
	if m.state.Load() != landed {
		return false
	}
	if m.stream.Broken() && !l.giveBack(m) {
		return false
	}
	if m.kept {
		m.kept = false
		g.rails.kept--
	} else {
		g.inbox.due.Add(-1)
	}
	n, err := m.n, m.err
	m.err = nil
	m.state.Store(atHome)
	if err != nil && !m.stream.Broken() {
		m.stream.Return()
		g.life.loseRail(l, err)
		return n > 0
	}
	g.life.heed(g.flow.Land(int(l.index), m.dir, n))
	g.press()
	return n > 0
}

// giveBack says whether the link has given the buffer back of the chunk that has landed. One
// that it keeps does not count as landed: the holder of the lock would try again at once.
func (l *rail) giveBack(m *mover) bool {
	g := l.gate
	if m.back == nil {
		return true
	}
	n, ok := m.back(g.life.end != nil && time.Since(g.life.ended) > evictAfter)
	if m.dir == flow.Pull && m.stream.Bounces() {
		n = 0 // it was not scattered, and will not be
	}
	if m.n += n; !ok && !m.kept {
		m.kept = true
		g.rails.kept++
		g.inbox.due.Add(-1)
	}
	return ok
}

// take reserves the next pieces of all rails, both ways, for the caller: a bit for each
// mover, to be given to rails.carry after having released the lock. Under mu.
func (x *rails) take() (taken uint32) {
	g := x.g
	if !g.flow.Streams() {
		return 0
	}
	for i := range x.all {
		if x.all[i].pull.take() {
			taken |= 1 << (2 * i)
		}
		if x.all[i].push.take() {
			taken |= 2 << (2 * i)
		}
	}
	return taken
}

// carry moves what take reserved. Without mu.
func (x *rails) carry(taken uint32) {
	for ; taken != 0; taken &= taken - 1 {
		i := bits.TrailingZeros32(taken)
		if l := &x.all[i/2]; i%2 == 0 {
			l.carry(&l.pull)
		} else {
			l.carry(&l.push)
		}
	}
}

// fail has the flow fail what moves in a direction, by fail. What the link may have at the moment ends
// when it comes home. Under mu.
func (x *rails) fail(dir flow.Direction, fail func(error), err error) {
	g := x.g
	var lent uint32 // a bit for each rail
	for i := range x.all {
		if m := x.all[i].mover(dir); m.back != nil && m.take() {
			lent |= 1 << i
			m.n = 0
			m.state.Store(landed)
			g.inbox.due.Add(1)
		}
	}
	fail(err)
	for i := range x.all {
		if lent>>i&1 != 0 {
			l := &x.all[i]
			l.home(l.mover(dir))
		}
	}
}

// home takes home whatever has landed. Under mu. It says whether bytes have moved.
func (x *rails) home() (moved bool) {
	g := x.g
	if g.inbox.due.Load() == 0 && x.kept == 0 {
		return false
	}
	for i := range x.all {
		l := &x.all[i]
		moved = l.home(&l.pull) || moved
		moved = l.home(&l.push) || moved
	}
	return moved
}
