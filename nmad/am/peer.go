package am

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// peer is a domain of another process, or the own one, as a domain of this process sees it. Requests are numbered, and handled in the
// order of their numbers, whichever way they have come. Of the requests that were sent and not handled yet, as far as the sender knows, there
// are at most Config.Window: so many answers and buffers are reserved by them, and no side waits for the other one's room to answer.
//
//	requester:  under way = sent - credit that has come back   <= Window
//	target:     came - credit that was given back              <= Window
//	            owed = the part of that which was handled: goes with the next message, or, from half of Window on, by one of its own
type peer struct {
	d    *Domain
	rank int
	far  int // number of its domain
	gate *nmad.Gate
	near bool          // gate is one between domains of the same number
	in   *nmad.Context // of short messages, answers and credit; nil: the plain one
	why  atomic.Pointer[error]
	over context.Context // done once why is set: for threads that wait
	end  context.CancelFunc
	hi   *nmad.Request // that told the peer of this one

	_ [64]byte

	mu       marcel.SpinLock
	underWay int      // requests
	seq      uint8    // of the next request
	owed     int      // requests of the peer's
	short    *Message // that may be used
	long     *Message // the same, with a buffer of Medium
	leaving  *Message // that nmad has not sent yet, as far as is known
	awaited  *Reply   // requests under way that await answers
	parked   *slot    // receives that wait for the next poll to be posted

	paid atomic.Uint32 // requests of the peer's whose credit was given back, ever; written under mu

	_ [64]byte

	// Calls on behalf of one gate come one at a time: they alone touch what follows.
	all   uint32          // requests that have come, ever
	next  uint8           // number of the request to be handled next
	early *[256]early     // requests that came before their turn, by number; nil: none ever did
	token Token           // of the handler that runs
	args  [MaxArgs]uint64 // its arguments
	spent atomic.Uint32   // handlers that ran since the last poll began, which sets it to 0: of the two writes one may be lost
	spare [][]byte        // buffers of early requests
	slots []*slot         // set once
	ran   atomic.Uint64   // handlers
	lost  atomic.Uint64   // messages that were dropped
}

// early is a request that came before its turn.
type early struct {
	head head
	data []byte
	here bool
}

// failed says why the peer is of no use any more; nil: it is.
func (p *peer) failed() error {
	if why := p.why.Load(); why != nil {
		return *why
	}
	return nil
}

// fail notes that the peer is of no use any more.
func (p *peer) fail(why error) {
	if p.why.CompareAndSwap(nil, &why) {
		p.end()
		p.d.w.failed(p, why)
	}
}

// violation fails a peer that has sent nonsense.
func (p *peer) violation(why error) {
	why = fmt.Errorf("am: rank %d: %w", p.rank, why)
	p.lost.Add(1)
	p.fail(why)
	p.d.w.tell(why)
}

// reserve takes room for a request; nil: there is none.
func (p *peer) reserve(long bool) *Message {
	p.mu.Lock()
	if p.underWay >= p.d.w.cfg.Window {
		p.mu.Unlock()
		return nil
	}
	p.underWay++
	m := p.message(long)
	p.mu.Unlock()
	return m
}

// reserveFor is reserve for a request that is sent at once: it has its number, and, if r is not nil, the answer will be r.
func (p *peer) reserveFor(r *Reply, h *head, long bool) *Message {
	p.mu.Lock()
	if p.underWay >= p.d.w.cfg.Window {
		p.mu.Unlock()
		return nil
	}
	p.underWay++
	h.seq, h.credit = p.seq, p.pay()
	p.seq++
	if r != nil {
		r.next, p.awaited, r.credits = p.awaited, r, true
	}
	m := p.message(long)
	p.mu.Unlock()
	return m
}

// credited takes credit that has come back.
func (p *peer) credited(n int) error {
	if n == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.takeCredit(n)
}

func (p *peer) takeCredit(n int) error {
	if n > p.underWay {
		return fmt.Errorf("%w: credit for %d requests where %d are under way", ErrMessage, n, p.underWay)
	}
	p.underWay -= n
	return nil
}

// pay takes what is owed, to be given back. Under mu.
func (p *peer) pay() int {
	n := p.owed
	if n == 0 {
		return 0
	}
	p.paid.Store(p.paid.Load() + uint32(n))
	p.owed = 0
	return n
}

// handled notes that a request of the peer's was, and says whether its credit is to be given back by a message of its own.
func (p *peer) handled() bool {
	p.mu.Lock()
	p.owed++
	now := 2*p.owed >= p.d.w.cfg.Window
	p.mu.Unlock()
	return now
}

// came notes that a request of the peer's has.
func (p *peer) came() error {
	if p.all++; p.all-p.paid.Load() > uint32(p.d.w.cfg.Window) {
		return fmt.Errorf("%w: more than %d requests under way: give all processes the same Window", ErrMessage, p.d.w.cfg.Window)
	}
	return nil
}
