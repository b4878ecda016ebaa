package nmad

import (
	"errors"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// transfer moves the bytes of a flow.Stream over the large track of one rail, in one direction.
//
// Copies are long (a megabyte takes tens of microseconds), so a poller makes them without the lock of the gate. It
// reserves the next chunk under the lock, releases the lock, and copies. Then a holder of the lock completes the
// transfer:
//
//	       reserve, under mu           the copy is over
//	idle ---------------------> copying ------------------> copied
//	   ^                                                      |
//	   '----------- complete, under mu, by any holder <-------'
//
// A transfer that is copying belongs to the poller that has reserved the chunk, the copier: no other thread calls the
// link for this direction, or touches the chunk, not even to fail it. The copier may be in a hook, so it must not wait
// for the lock when the copy is over:
//
//	copier: store n and err; state = copied; inbox.due++; try mu: if it is held return
//	holder: unlock mu; look at inbox.due: if it is above 0 try mu, and complete
//
// Each of the two writes before it looks, with sequentially consistent atomics: so either the copier gets the lock, or
// the holder sees that the transfer is copied. So a copied chunk never waits for the next poll, which might not come.
// (due also counts other work for the holder; see inbox.go.)
//
// A link that borrows may use the buffer of the head of the stream also while the transfer is idle. So when the
// requests fail, failChunks marks such a head as copied, with nothing moved, and it is completed when the link has
// given its buffer back. All other chunks fail at once. The link evicts a peer that keeps the buffer for longer than
// evictAfter after the gate's end.
type transfer struct {
	stream   *flow.Stream                      // guarded by mu, except for the reserved chunk
	dir      flow.Direction                    // direction of stream
	call     func([]byte) (int, error)         // the link's Push or Pull
	fetch    func([]byte, uint64) (int, error) // the link's Fetch; nil for Push
	takeBack func(bool) (int, bool)            // the link's ReturnPush or ReturnPull, if it borrows; else nil

	state          atomic.Uint32 // transferIdle, transferCopying or transferCopied; the copier writes transferCopied, the holder of mu the others
	n              int           // copied: bytes that have moved; the copier writes it
	err            error         // copied: error of the link; the copier writes it
	fetchedNothing bool          // the last Fetch has read nothing; guarded by mu
	bufferKept     bool          // copied, in a broken stream, and the link has not given the buffer back; guarded by mu
}

const (
	transferIdle uint32 = iota
	transferCopying
	transferCopied
)

// evictAfter is how long an ended gate waits for a buffer into which its peer may still be writing. Such a write takes
// microseconds; it takes longer only if the peer is stopped, or keeps the buffer on purpose.
const evictAfter = time.Second

// rounds is the largest number of copies per direction in one poll.
const rounds = 16

// reserve reserves the head of the stream for the caller, which must call copy when it has released the lock. It
// returns false if there is nothing to copy, or another thread copies.
func (m *transfer) reserve() bool {
	if m.stream.Empty() || m.state.Load() != transferIdle {
		return false
	}
	m.stream.Reserve()
	m.state.Store(transferCopying)
	return true
}

// inactive reports whether no thread is inside the link for this direction, and no copy is to be completed.
func (m *transfer) inactive() bool { return m.state.Load() == transferIdle }

// copy moves bytes of the chunk that transfer.reserve has reserved. The caller does not hold mu, except in echo and
// copyLocked.
func (l *rail) copy(m *transfer) {
	m.n, m.err = m.stream.Copy(m.call, m.fetch)
	m.state.Store(transferCopied)
	l.gate.inbox.due.Add(1)
}

// completeOne completes a transfer if it is copied. It reports whether bytes have moved.
func (h *lockedGate) completeOne(l *rail, m *transfer) bool {
	if m.state.Load() != transferCopied {
		return false
	}
	if m.stream.Broken() && !h.takeBack(m) {
		return false
	}
	if m.bufferKept {
		m.bufferKept = false
		h.keptTransfers--
	} else {
		h.gate.inbox.due.Add(-1)
	}
	n, err := m.n, m.err
	m.err, m.fetchedNothing = nil, n == 0 && m.stream.Fetching()
	m.state.Store(transferIdle)
	if err != nil && !m.stream.Broken() {
		if errors.Is(err, errors.ErrUnsupported) && m.stream.Fetching() {
			h.flow.FetchFailed()
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

// takeBack reports whether the link has given back the buffer of a copied chunk of a failed stream. A buffer that the
// link keeps does not count in due, as the holder of the lock would try again at once.
func (h *lockedGate) takeBack(m *transfer) bool {
	if m.takeBack == nil {
		return true
	}
	n, ok := m.takeBack(h.endErr != nil && time.Since(h.endTime) > evictAfter)
	if m.dir == flow.Pull && m.stream.Bounces() {
		n = 0 // these bytes are in the bounce buffer, and will not be scattered
	}
	if m.n += n; !ok && !m.bufferKept {
		m.bufferKept = true
		h.keptTransfers++
		h.gate.inbox.due.Add(-1)
	}
	return ok
}

// reserve reserves the heads of all streams for the caller, which passes the result to Gate.copy when it has released
// the lock: bit 2i is set for the pull transfer of rail i, bit 2i+1 for its push transfer.
func (h *lockedGate) reserve() (taken uint32) {
	if !h.flow.HasChunks() {
		return 0
	}
	for i := range h.gate.rails {
		if h.gate.rails[i].pull.reserve() {
			taken |= 1 << (2 * i)
		}
		if h.gate.rails[i].push.reserve() {
			taken |= 2 << (2 * i)
		}
	}
	return taken
}

// copy moves bytes of the chunks that lockedGate.reserve has reserved. It needs no lock.
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

// failChunks calls fail, which makes the flow fail all that moves in a direction, with err. A chunk whose buffer a link
// may still use ends later, when its transfer is complete.
func (h *lockedGate) failChunks(dir flow.Direction, fail func(error), err error) {
	if dir == flow.Push {
		for i := range h.gate.rails {
			h.gate.rails[i].link.Withdraw()
		}
	}
	var used uint32 // a bit for each rail
	for i := range h.gate.rails {
		if m := h.gate.rails[i].transfer(dir); m.takeBack != nil && m.reserve() {
			used |= 1 << i
			m.n = 0
			m.state.Store(transferCopied)
			h.gate.inbox.due.Add(1)
		}
	}
	fail(err)
	for i := range h.gate.rails {
		if used>>i&1 != 0 {
			l := &h.gate.rails[i]
			h.completeOne(l, l.transfer(dir))
		}
	}
}

// complete completes all transfers that are copied. It reports whether bytes have moved.
func (h *lockedGate) complete() (moved bool) {
	if h.gate.inbox.due.Load() == 0 && h.keptTransfers == 0 {
		return false
	}
	for i := range h.gate.rails {
		l := &h.gate.rails[i]
		moved = h.completeOne(l, &l.pull) || moved
		moved = h.completeOne(l, &l.push) || moved
	}
	return moved
}
