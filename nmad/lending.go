package nmad

import (
	"encoding/binary"
	"errors"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/region"
)

// Lending: a message that lies in a Buffer, sent over a link that can hand memory to the peer (driver.Caps.Lends), is
// announced by LOAN in place of RDV. LOAN says in addition where in that memory it lies. The receive that it is for decides:
//
//	sender                                     receiver
//	  │ LOAN(tag, seq, size, cookie; offset) ▶ │ takes loans: done, with the bytes where they lie
//	  │                                        │ ... the program reads, and releases
//	  │ ◀───────────────────── RETURN(cookie)  │
//	 done
//	                                           │ any other: RTR, and all goes on as after RDV (rendezvous.go)
//
// So nothing else differs: the order of messages, what is unexpected, probed, claimed, cancelled or truncated, what
// bounds announcements (records.go). A receiver that cannot map the memory answers by RTR, and its peer need not know.
// A message that is lent and was not received yet takes the sender's memory: that is what holds a sender back that is too fast (ErrNoRoom).
//
//	send:  queued -> announced -> done                  lent, and returned
//	                 announced -> pushing -> done       lent, and asked for
//
// The descriptor of the memory travels beside the packets, before the first LOAN. What the peer says is believed no
// further than this: the descriptor is memory of a size that cannot change (region.Map), and offset and size
// lie within that. It is mapped for reading only. The bytes may change at any time, also those of a program that keeps its
// side: after Close, or a send that has failed, a Buffer is the sender's again, while the receiver may still read.
//
// The end of a gate: sends that are lent end as others do (ErrPeerLost, ErrClosed). What a receiver has been lent stays
// mapped until the last of it was released; then, or with the gate, the mapping goes.

// leastLoan is the shortest message that is lent, in bytes: a shorter one is copied in the time that its return takes.
const leastLoan = 4 << 10

// loanBody is the body of a LOAN, in bytes: the offset (8).
const loanBody = 8

// lent is what a gate knows about memory that is lent both ways. Under the lock of the gate.
type lent struct {
	view    *region.View   // the peer's memory; nil: nothing was lent yet, or it was unmapped
	blind   bool           // it cannot be mapped
	out     int            // loans in view that were not released
	returns leaseQueue     // released, and the peer is to be told
	pool    *lease         // to be used again
	body    [loanBody]byte // of the LOAN that is being sent
}

// leaseQueue is a first-in-first-out queue through lease.next.
type leaseQueue struct{ head, tail *lease }

func (q *leaseQueue) push(l *lease) {
	l.next = nil
	if q.head == nil {
		q.head = l
	} else {
		q.tail.next = l
	}
	q.tail = l
}

func (q *leaseQueue) pop() *lease {
	l := q.head
	if l != nil {
		q.head = l.next
	}
	return l
}

// lendable says whether a send, which is special, is to be announced as a loan. The first one hands the memory to the peer.
func (g *Gate) lendable(r *Request) bool {
	if !r.lends || r.data.size < leastLoan || !g.tx.caps.Lends || g.tx.room < loanBody {
		return false
	}
	p := g.buffers.Load()
	if !p.shared && !p.barred {
		fd := p.memory.Descriptor()
		p.barred = fd < 0 || g.link.Lend(fd) != nil // if the link is broken its next call says so
		p.shared = !p.barred
		p.memory.Forget()
	}
	return p.shared
}

// describeLoan makes the LOAN of a send.
func (g *Gate) describeLoan(r *Request) (h driver.Header, body []byte) {
	binary.LittleEndian.PutUint64(g.lent.body[:], uint64(r.page)*region.PageSize)
	return driver.Header{Kind: kindLoan, Body: loanBody, Tag: r.entry.Tag, Size: uint64(r.data.size), Seq: g.tx.seq}, g.lent.body[:]
}

// placeOf reads the body of a LOAN of that many bytes, out of memory of so many. ok: the message lies in it.
func placeOf(body []byte, size uint64, memory int) (at int, ok bool) {
	if len(body) != loanBody {
		return 0, false
	}
	from := binary.LittleEndian.Uint64(body)
	if size > uint64(memory) || from > uint64(memory)-size {
		return 0, false
	}
	return int(from), true
}

// handleLoan takes in the announcement of a message that is lent.
func (g *Gate) handleLoan(h *driver.Header, body []byte) *PeerError {
	if len(body) != loanBody || h.Size == 0 {
		return violation(g.rank, "a loan of %d bytes, described in %d", h.Size, len(body))
	}
	if !g.tx.caps.Lends {
		return violation(g.rank, "a loan over a link that cannot hand memory over")
	}
	if wrong := g.mapPeer(); wrong != nil {
		return wrong
	}
	if g.lent.blind {
		return g.announcement(h, nil)
	}
	all := g.lent.view.Bytes()
	at, ok := placeOf(body, h.Size, len(all))
	if !ok {
		return violation(g.rank, "a loan of %d bytes (%x) that does not lie in the %d bytes of its memory", h.Size, body, len(all))
	}
	return g.announcement(h, all[at:at+int(h.Size):at+int(h.Size)])
}

// mapPeer maps the memory of the peer, once.
func (g *Gate) mapPeer() *PeerError {
	x := &g.lent
	if x.view != nil || x.blind {
		return nil
	}
	fd, err := g.link.Lent()
	if err == nil {
		x.view, err = region.Map(fd)
	}
	if errors.Is(err, driver.ErrProtocol) {
		return violation(g.rank, "%v", err)
	}
	x.blind = err != nil // for want of descriptors or address space: messages come the usual way
	return nil
}

// hand gives a message that is lent to its receive, and ends that.
func (g *Gate) hand(r *Request, bytes []byte, cookie uint32) {
	l := g.newLease(r, bytes)
	l.there, l.cookie = true, cookie
	g.lent.out++
	r.size, r.n = uint64(len(bytes)), len(bytes)
	g.stats.Borrowed++
	g.stats.BytesReceived += uint64(r.n)
	g.complete(r, nil)
}

// newLease makes the loan of a receive. Under mu.
func (g *Gate) newLease(r *Request, bytes []byte) *lease {
	l := g.lent.pool
	if l == nil {
		l = &lease{gate: g}
	} else {
		g.lent.pool = l.next
	}
	l.there, l.bytes, l.next = false, bytes, nil
	r.lease, r.leased = l, l.turn.Add(1)
	return l
}

// giveBackLoan takes in a loan that was released: whoever has the lock does, or gets it. It never waits.
func (g *Gate) giveBackLoan(l *lease) {
	for {
		l.next = g.released.Load()
		if g.released.CompareAndSwap(l.next, l) {
			break
		}
	}
	// What is not nil has been seen by nobody who has taken the lock since, or by one who is about to take all of it.
	g.landed.Add(1)
	if g.mu.tryLock() {
		g.attend()
		g.release()
	}
}

// takeReleased takes in what giveBackLoan has left. Under mu, and not while a packet is being dealt with.
func (g *Gate) takeReleased() {
	if g.released.Load() == nil {
		return
	}
	x := &g.lent
	for l := g.released.Swap(nil); l != nil; {
		next := l.next
		g.landed.Add(-1)
		switch {
		case !l.there:
			g.shelve(l)
		case g.end != nil || g.byeSent:
			g.putAway(l)
		default:
			x.returns.push(l)
		}
		l = next
	}
	g.closeView()
	if x.returns.head != nil && !g.tx.refused {
		g.drain()
	}
}

// putAway forgets a loan in the peer's memory.
func (g *Gate) putAway(l *lease) {
	g.lent.out--
	g.shelve(l)
}

func (g *Gate) shelve(l *lease) {
	l.bytes, l.next = nil, g.lent.pool
	g.lent.pool = l
}

// returnLoans tells the peer what was released. False: the link has no room.
func (g *Gate) returnLoans() (bool, error) {
	x := &g.lent
	for l := x.returns.head; l != nil; l = x.returns.head {
		g.tx.head = driver.Header{Kind: kindReturn, Cookie: l.cookie}
		if ok, err := g.emit(nil, nil); !ok || err != nil {
			return false, err
		}
		x.returns.pop()
		g.putAway(l)
	}
	return true, nil
}

// handleReturn ends a send whose message was read where it lies.
func (g *Gate) handleReturn(h *driver.Header) *PeerError {
	r := g.tx.sends.find(h.Cookie)
	if r == nil && g.byeSent {
		return nil // its send was given up a moment ago
	}
	if r == nil || !r.lent || r.asked != 0 {
		return violation(g.rank, "a loan is returned under cookie %#x, which names none", h.Cookie)
	}
	g.tx.sends.take(h.Cookie)
	r.n = r.data.size
	g.stats.BytesSent += uint64(r.n)
	g.complete(r, nil)
	return nil
}

// endLoans is what is left to do about loans when the gate has ended, and all sends with it, but those that are away.
func (g *Gate) endLoans() {
	x := &g.lent
	for l := x.returns.pop(); l != nil; l = x.returns.pop() {
		g.putAway(l)
	}
	g.closeView()
}

// closeView lets go of the peer's memory once the gate has ended and nothing of it is lent.
func (g *Gate) closeView() {
	if x := &g.lent; g.end != nil && x.out == 0 && x.view != nil {
		x.view.Unmap()
		x.view, x.blind = nil, true
	}
}

// loanOf is what a receive that takes loans gets of a message that was not lent. Under mu.
func (g *Gate) loanOf(r *Request) {
	if r.data.whole() {
		g.newLease(r, r.data.buf[:r.n])
	} else {
		g.newLease(r, nil)
	}
}
