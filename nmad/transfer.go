package nmad

import (
	"errors"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// A transfer moves the bytes of a flow.Stream over the large track of one rail, in one
// direction.
//
// Copies are long (a megabyte takes tens of microseconds), so a poller makes them without
// the lock of the gate. It reserves the next piece under the lock, lets
// the lock go, and copies. A holder of the lock then completes the transfer:
//
//	       reserve, under mu           the copy is over
//	idle ---------------------> copying ------------------> copied
//	   ^                                                      |
//	   '----------- complete, under mu, by any holder <-------'
//
// A transfer that is copying belongs to the poller that reserved the piece, the copier: no other
// thread calls the link for this direction or touches the chunk, not even to fail it. The copier
// needs no lock at the end, because it may be a hook and must not wait for one. So:
//
//	copier: result; transfer.state = copied; gate.inbox.due++; try mu, if held go away
//	holder: unlock mu; look at gate.inbox.due; if above 0, try mu and complete
//
// (due counts what else is left for the holder, too: inbox.go.)
//
// Both look after they wrote, with sequentially consistent atomics: either the
// copier gets the lock, or the holder sees that the transfer is copied.
// So a copied piece never waits for the next poll, which might not come.
//
// A link that borrows may use the buffer of the head of the stream also while the transfer is
// idle. So when the requests fail, fail marks the head as copied, with nothing moved; it is complete
// when the link has given its buffer back. The others fail at once. The link evicts a peer that has the
// buffer for longer than evictAfter after the gate's end.
type transfer struct {
	stream   *flow.Stream                      // under mu, but for the piece that is being copied
	dir      flow.Direction                    // of it
	call     func([]byte) (int, error)         // the link's Push or Pull
	fetch    func([]byte, uint64) (int, error) // the link's Fetch; nil for Push
	takeBack func(bool) (int, bool)            // its ReturnPush or ReturnPull, if it borrows; else nil

	state          atomic.Uint32 // idle, copying, copied: as drawn above
	n              int           // copied: bytes moved; the copier writes it
	err            error         // copied: the error of the link; the copier writes it
	fetchedNothing bool          // the last Fetch gave nothing; under mu
	bufferKept     bool          // copied, broken, and the link has not given the buffer back; under mu
}

const (
	transferIdle uint32 = iota
	copying
	copied
)

// evictAfter is how long an ended gate waits for a buffer into which its peer may still be writing a piece. A piece takes
// microseconds; it takes longer only if the peer is stopped, or keeps the buffer on purpose.
const evictAfter = time.Second

// rounds bounds the pieces that one poll moves per direction.
const rounds = 16

// reserve reserves the next piece for the caller, which must call copy once it has
// released the lock.
func (m *transfer) reserve() bool {
	if m.stream.Empty() || m.state.Load() != transferIdle {
		return false
	}
	m.stream.Reserve()
	m.state.Store(copying)
	return true
}

// inactive says that no thread is inside the link for this direction.
func (m *transfer) inactive() bool { return m.state.Load() == transferIdle }

// copy moves the piece that transfer.reserve has reserved. Without mu.
func (l *rail) copy(m *transfer) {
	m.n, m.err = m.stream.Copy(m.call, m.fetch)
	m.state.Store(copied)
	l.gate.inbox.due.Add(1)
}

// completeOne accounts for a copied piece. It says whether bytes have moved.
func (h *lockedGate) completeOne(l *rail, m *transfer) bool {
	if m.state.Load() != copied {
		return false
	}
	if m.stream.Broken() && !h.takeBack(l, m) {
		return false
	}
	if m.bufferKept {
		m.bufferKept = false
		h.keptTransfers--
	} else {
		h.g.inbox.due.Add(-1)
	}
	n, err := m.n, m.err
	m.err, m.fetchedNothing = nil, n == 0 && m.stream.Fetching()
	m.state.Store(transferIdle)
	if err != nil && !m.stream.Broken() {
		if errors.Is(err, errors.ErrUnsupported) && m.stream.Fetching() {
			h.flow.FetchFailed(int(l.index))
			h.sendIfDue()
			return false
		}
		m.stream.Return()
		h.loseRail(l, err)
		return n > 0
	}
	h.endOn(h.flow.Complete(int(l.index), m.dir, n))
	h.sendIfDue()
	return n > 0
}

// takeBack says whether the link has given back the buffer of a copied chunk. A buffer that the link
// keeps does not count in due: the holder of the lock would try again at once.
func (h *lockedGate) takeBack(l *rail, m *transfer) bool {
	if m.takeBack == nil {
		return true
	}
	n, ok := m.takeBack(h.endErr != nil && time.Since(h.endTime) > evictAfter)
	if m.dir == flow.Pull && m.stream.Bounces() {
		n = 0 // it was not scattered, and will not be
	}
	if m.n += n; !ok && !m.bufferKept {
		m.bufferKept = true
		h.keptTransfers++
		h.g.inbox.due.Add(-1)
	}
	return ok
}

// reserve reserves the next pieces of all rails, both ways, for the caller: a bit for each
// transfer, to be given to Gate.copy after having released the lock.
func (h *lockedGate) reserve() (taken uint32) {
	if !h.flow.HasChunks() {
		return 0
	}
	for i := range h.g.rails {
		if h.g.rails[i].pull.reserve() {
			taken |= 1 << (2 * i)
		}
		if h.g.rails[i].push.reserve() {
			taken |= 2 << (2 * i)
		}
	}
	return taken
}

// copy moves the pieces that reserve has reserved. It needs no lock.
func (g *Gate) copy(taken uint32) {
	for ; taken != 0; taken &= taken - 1 {
		i := bits.TrailingZeros32(taken)
		if l := &g.rails[i/2]; i%2 == 0 {
			l.copy(&l.pull)
		} else {
			l.copy(&l.push)
		}
	}
}

// failChunks has the flow fail what moves in a direction, by fail. A chunk whose buffer the link may use ends
// when its transfer is complete.
func (h *lockedGate) failChunks(dir flow.Direction, fail func(error), err error) {
	if dir == flow.Push {
		for i := range h.g.rails {
			h.g.rails[i].link.Withdraw()
		}
	}
	var used uint32 // a bit for each rail
	for i := range h.g.rails {
		if m := h.g.rails[i].transfer(dir); m.takeBack != nil && m.reserve() {
			used |= 1 << i
			m.n = 0
			m.state.Store(copied)
			h.g.inbox.due.Add(1)
		}
	}
	fail(err)
	for i := range h.g.rails {
		if used>>i&1 != 0 {
			l := &h.g.rails[i]
			h.completeOne(l, l.transfer(dir))
		}
	}
}

// complete completes all transfers that are copied. It says whether bytes have moved.
func (h *lockedGate) complete() (moved bool) {
	if h.g.inbox.due.Load() == 0 && h.keptTransfers == 0 {
		return false
	}
	for i := range h.g.rails {
		l := &h.g.rails[i]
		moved = h.completeOne(l, &l.pull) || moved
		moved = h.completeOne(l, &l.push) || moved
	}
	return moved
}
