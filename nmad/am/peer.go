package am

import (
	"fmt"
)

// failed returns why the peer has failed; nil: it has not.
func (p *peer) failed() error {
	if why := p.why.Load(); why != nil {
		return *why
	}
	return nil
}

// fail notes why the peer has failed.
func (p *peer) fail(why error) {
	if p.why.CompareAndSwap(nil, &why) {
		p.end()
		p.releaseAll()
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

// reserve takes room for a request; nil: there is none. With h the request has its number from then on, and r, if it is not
// nil, will be its answer.
func (p *peer) reserve(r *Reply, h *head, long bool) *Message {
	p.mu.Lock()
	if p.underWay >= p.d.w.cfg.Window {
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
