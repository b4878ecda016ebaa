package am

import (
	"fmt"
)

// failed returns why the peer has failed; nil if it has not.
func (p *peer) failed() error {
	if why := p.failure.Load(); why != nil {
		return *why
	}
	return nil
}

// fail makes the peer fail, if it has not yet: it wakes the waiters for its answers, releases memory, and ends its
// calls. Any thread or callback may call it.
func (p *peer) fail(why error) {
	if p.failure.CompareAndSwap(nil, &why) {
		p.cancelEnded()
		p.releaseAll()
		p.domain.world.failed(p, why)
	}
}

// violation makes a peer fail that has broken the protocol, and reports that.
func (p *peer) violation(why error) {
	why = fmt.Errorf("am: rank %d: %w", p.rank, why)
	p.droppedEver.Add(1)
	p.fail(why)
	p.domain.world.tell(why)
}

// reserve takes room for a request; it returns nil if there is none. If h is not nil the request gets its number, and r
// its answer, as in number.
func (p *peer) reserve(r *Reply, h *head, long bool) *Message {
	p.mu.Lock()
	if p.underWay >= p.domain.world.cfg.Window {
		p.mu.Unlock()
		return nil
	}
	p.underWay++
	if h != nil {
		p.numberLocked(h, r)
	}
	m := p.message(long)
	p.mu.Unlock()
	return m
}

// credited takes credit that has come from the peer. The error says that it is more than there are requests under way.
func (p *peer) credited(n int) error {
	if n == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.takeCredit(n)
}

// takeCredit is credited for the holder of mu.
func (p *peer) takeCredit(n int) error {
	if n > p.underWay {
		return fmt.Errorf("%w: credit for %d requests where %d are under way", ErrMessage, n, p.underWay)
	}
	p.underWay -= n
	return nil
}

// takeOwed returns the credit that is owed to the peer, for the message that its caller sends. The caller holds mu.
func (p *peer) takeOwed() int {
	n := p.owed
	if n == 0 {
		return 0
	}
	p.paid.Store(p.paid.Load() + uint32(n))
	p.owed = 0
	return n
}

// countReceived notes that a request of the peer has come. The error says that there are more than Window.
func (p *peer) countReceived() error {
	if p.received++; p.received-p.paid.Load() > uint32(p.domain.world.cfg.Window) {
		return fmt.Errorf("%w: more than %d requests under way: give all processes the same Window", ErrMessage, p.domain.world.cfg.Window)
	}
	return nil
}
