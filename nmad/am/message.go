package am

import (
	"fmt"
)

// front is the place of the body in the buffer of a Message, in bytes.
const front = wordSize + argsRoom

// message returns a message that is not in use, or makes one. The caller holds mu. Of each length there are at most as
// many as requests and replies may be under way.
func (p *peer) message(long bool) *Message {
	list, size := &p.short, shortSize
	if long {
		list, size = &p.long, p.domain.world.cfg.Medium
	}
	if list.Len() == 0 && p.leaving != nil {
		p.sweep()
	}
	m := list.Get()
	if m.peer == nil {
		m.peer, m.buf = p, make([]byte, front+size)
	}
	return m
}

// sweep puts away the messages that have left since they were handed to nmad. The caller holds mu.
func (p *peer) sweep() {
	for at := &p.leaving; *at != nil; {
		m := *at
		if !m.req.IsDone() {
			at = &m.next
			continue
		}
		*at = m.next
		p.putAway(m)
	}
}

// putAway keeps a message for the next use. The caller holds mu.
func (p *peer) putAway(m *Message) {
	if len(m.buf) == front+shortSize {
		p.short.Put(m)
	} else {
		p.long.Put(m)
	}
}

// sent puts a message away that was handed to nmad, or, if it has not left yet, into leaving.
func (p *peer) sent(m *Message) {
	done := m.req.IsDone()
	p.mu.Lock()
	if done {
		p.putAway(m)
	} else {
		m.next, p.leaving = p.leaving, m
	}
	p.mu.Unlock()
}

// direct is the length, in bytes, from which on sendCopy offers a body to nmad where it is. A shorter one leaves faster
// when it lies behind its arguments.
const direct = 512

// sendCopy is send with a body that is not in the buffer: it goes straight into a packet, or is copied into the buffer.
func (p *peer) sendCopy(m *Message, tag uint64, from int, body []byte) error {
	if len(body) >= direct {
		in := p.shortContext
		if tag&answerBit == 0 && front-from+len(body) > shortSize {
			in = p.domain.longContext
		}
		if p.gate.Inject(in, tag, m.buf[from:front], body) {
			p.mu.Lock()
			p.putAway(m)
			p.mu.Unlock()
			return nil
		}
	}
	copy(m.buf[front:], body)
	return p.send(m, tag, from, len(body))
}

// send hands a message to nmad: the bytes of its buffer from there to the end of the body, which has so many bytes.
func (p *peer) send(m *Message, tag uint64, from, body int) error {
	buf := m.buf[from : front+body]
	var err error
	switch {
	case tag&answerBit == 0 && len(buf) > shortSize:
		if m.op.Match.Context = p.domain.longContext; p.sameNumber {
			err = m.op.Match.Context.IsendInto(&m.req, p.rank, tag, buf)
		} else {
			m.op.Match.Tag, m.op.Buf = tag, buf
			err = p.gate.Post(&m.req, &m.op)
		}
	case p.shortContext != nil:
		err = p.shortContext.IsendInto(&m.req, p.rank, tag, buf)
	default:
		err = p.gate.IsendInto(&m.req, tag, buf)
	}
	p.sent(m)
	return err
}

// number gives a request its number, and the credit that goes with it. r gets the answer; it is nil if none is awaited.
func (p *peer) number(h *head, r *Reply) {
	p.mu.Lock()
	p.numberLocked(h, r)
	p.mu.Unlock()
}

// numberLocked is number for the holder of mu.
func (p *peer) numberLocked(h *head, r *Reply) {
	h.seq, h.credit = p.seq, p.takeOwed()
	p.seq++
	if r != nil {
		r.next, p.awaited, r.creditPending = p.awaited, r, true
	}
}

// messageBack returns a message by which the credit of a request that is handled now, and of earlier ones, goes back.
func (p *peer) messageBack(long bool) (m *Message, credit int) {
	p.mu.Lock()
	p.owed++
	credit = p.takeOwed()
	m = p.message(long)
	p.mu.Unlock()
	return m, credit
}

// handled notes that a request of the peer was handled. From half a Window on the credit goes back by a message of its
// own.
func (p *peer) handled() {
	p.mu.Lock()
	if p.owed++; 2*p.owed < p.domain.world.cfg.Window {
		p.mu.Unlock()
		return
	}
	h := head{kind: kindCredit, credit: p.takeOwed()}
	m := p.message(false)
	p.mu.Unlock()
	_ = p.send(m, h.tag(), front, 0) // fails with the peer
}

// Body returns the body, for its caller to write: as many bytes as Prepare was asked for. After Commit and Cancel it
// returns nil.
func (m *Message) Body() []byte {
	if m == nil || !m.open.Load() {
		return nil
	}
	return m.buf[front : front+m.size : front+m.size]
}

// Commit sends the message with args and the first n bytes of its body. It never blocks. Once it has returned nil the
// message must not be used any more. It fails with ErrActive if the message was committed or canceled before, and with
// ErrConfig for wrong arguments; then the message stays as it was.
func (m *Message) Commit(args []uint64, n int) error {
	if m == nil || !m.open.Load() {
		return fmt.Errorf("am: commit: %w: the message was committed, or canceled", ErrActive)
	}
	if n < 0 || n > m.size || len(args) > MaxArgs {
		return fmt.Errorf("am: commit: %w: %d bytes of %d, %d arguments of at most %d",
			ErrConfig, n, m.size, len(args), MaxArgs)
	}
	m.open.Store(false)
	p, h := m.peer, head{id: m.id, args: len(args)}
	putArgs(m.buf[front-8*h.args:], args)
	p.number(&h, nil)
	if err := p.send(m, h.tag(), front-8*h.args, n); err != nil {
		return p.orFailed(err)
	}
	return nil
}

// orFailed returns why the peer has failed, if it has, else err.
func (p *peer) orFailed(err error) error {
	if why := p.failed(); why != nil {
		return why
	}
	return err
}

// Cancel gives up a prepared message, which then does not count as under way. It never blocks. After Commit it does
// nothing.
func (m *Message) Cancel() {
	if m == nil || !m.open.CompareAndSwap(true, false) {
		return
	}
	m.discard()
}

// discard puts the message away, and gives back its room. It has no number yet.
func (m *Message) discard() {
	p := m.peer
	p.mu.Lock()
	p.underWay--
	p.putAway(m)
	p.mu.Unlock()
}
