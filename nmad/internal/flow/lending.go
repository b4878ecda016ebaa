package flow

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Lending: a message that lies in a buffer of the library, sent over a link whose ends can map memory of each other
// (Caps.Process), is announced by LOAN in place of RDV. LOAN also says where the message lies in the sender's memory; the
// first LOAN says which memory that is. The receive that it is for decides:
//
//	sender                                     receiver
//	  │ LOAN(tag, seq, size, cookie; where)  ▶ │ takes loans: done, with the bytes where they lie
//	  │                                        │ ... the program reads, and releases
//	  │ ◀───────────────────── RETURN(cookie)  │
//	 done
//	                                           │ any other: RTR, and all goes on as after RDV (rendezvous.go)
//
// Everything else is the same: the order of messages, unexpected messages, probes, claims, cancelling, truncation, and the
// bounds of announcements (records.go). A receiver that cannot map the memory answers by RTR, and its peer need not know
// why. A loaned message that was not received yet takes memory of the sender. That holds a sender back that is too fast:
// it gets no buffer.
//
//	send:  queued -> announced -> done                  loaned, and returned
//	                 announced -> pushing -> done       loaned, and asked for
//
// The owner of the flow finds the memory (Network.View). It checks that the size of the memory cannot change, and that the
// message lies within. It maps the memory for reading only. The bytes may change at any time, even if the peer keeps the
// rules: after Close, or after a send has failed, the buffer is the sender's again, while the receiver may still read.
//
// At the end of a gate loaned sends end as others do (ErrPeerLost, ErrClosed). The memory of loans stays mapped at the
// receiver until it has released the last of them and the gate has ended.

// LeastLoan is the shortest message that is loaned, in bytes: a shorter one is copied in the time that its return takes.
const LeastLoan = 4 << 10

// LoanBody is the body of a LOAN, in bytes: the place of the message (8). LoanCard is the part before it in the first LOAN
// of a flow: it says which memory.
const (
	LoanBody = 8
	LoanCard = 24
)

// lending is what a flow knows about what is loaned.
type lending struct {
	known   bool                // the peer has said in which memory its messages lie
	out     int                 // how many loans in the peer's memory were not released
	returns fifo[Lease, *Lease] // loans that were released, and of which the peer is to be told
	pool    *Lease              // a list of leases that are not in use
	body    [ExposeBody]byte    // what the EXPOSE that is to leave carries
}

// Lease is what a flow remembers of a loan. Used again and again.
type Lease struct {
	Generation atomic.Uint32 // odd: it was not released; its owner counts when it is
	Next       *Lease        // in whichever list holds it; the owner's, between the release and Release
	There      bool          // the bytes lie in the sender's memory; else in the buffer of the receive
	Bytes      []byte

	cookie uint32 // the sender's name for it
}

func (l *Lease) link() **Lease { return &l.Next }

// lendable says whether a send is to be announced as a loan.
func (f *Flow) lendable(r *Request) bool {
	return r.UsesRare && r.Rare.Where != nil && r.Data.Size >= LeastLoan && f.Lending()
}

// Lending says whether messages are announced as loans.
func (f *Flow) Lending() bool { return f.tx.caps.Process != 0 && f.tx.room >= LoanCard+LoanBody }

// describeLoan makes the LOAN of a send.
func (f *Flow) describeLoan(p *Packet) {
	p.Body = p.of.req.Rare.Where[:]
	if f.Stats.Loaned > 0 {
		p.Body = p.Body[LoanCard:]
	}
	p.Head.Kind, p.Head.Body = KindLoan, uint32(len(p.Body))
}

// Unseen says that the flow has ended, and nothing of the peer's memory is loaned any more: it need not be mapped.
func (f *Flow) Unseen() bool { return f.ended && f.loans.out == 0 }

// handleLoan takes in the announcement of a message that is loaned.
func (f *Flow) handleLoan(h *driver.Header, body []byte, n Network) error {
	card := LoanCard
	if f.loans.known {
		card = 0
	}
	if len(body) != card+LoanBody || h.Size == 0 {
		return violation("a loan of %d bytes, described in %d", h.Size, len(body))
	}
	f.loans.known = true
	body, wrong := n.View(body[:card], binary.LittleEndian.Uint64(body[card:]), h.Size)
	if wrong != nil {
		return wrong
	}
	return f.announcement(h, body, 0)
}

// hand gives a message that is loaned to its receive, and ends the receive.
func (f *Flow) hand(r *Request, bytes []byte, cookie uint32) {
	l := f.newLease(r, bytes)
	l.There, l.cookie = true, cookie
	f.loans.out++
	r.Size, r.N = uint64(len(bytes)), len(bytes)
	f.Stats.Borrowed++
	f.Stats.BytesReceived += uint64(r.N)
	f.finish(r, nil)
}

// newLease makes the loan of a receive.
func (f *Flow) newLease(r *Request, bytes []byte) *Lease {
	l := f.takeLease()
	l.There, l.Bytes = false, bytes
	r.Rare.Lease, r.Rare.Leased = l, l.Generation.Add(1)
	return l
}

func (f *Flow) takeLease() *Lease {
	l := f.loans.pool
	if l == nil {
		return &Lease{}
	}
	f.loans.pool, l.Next = l.Next, nil
	return l
}

// leaseOf is what a receive that takes loans gets of a message that was not loaned.
func (f *Flow) leaseOf(r *Request) {
	if r.pieces() == nil {
		f.newLease(r, r.Data.Buf()[:r.N])
	} else {
		f.newLease(r, nil)
	}
}

// Release takes in a loan whose Generation its owner has counted on.
func (f *Flow) Release(l *Lease) {
	switch {
	case !l.There:
		f.recycle(l)
	case f.ended || f.bye.sent:
		f.putAway(l)
	default:
		f.returnLoan(l)
	}
}

// returnLoan has RETURN sent.
func (f *Flow) returnLoan(l *Lease) {
	f.loans.returns.push(l)
	f.setUnsent(unsentReturns, true)
	f.sendDue = f.sendDue || !f.tx.refused
}

// putAway forgets a loan in the peer's memory.
func (f *Flow) putAway(l *Lease) {
	f.loans.out--
	f.recycle(l)
}

func (f *Flow) recycle(l *Lease) {
	l.Bytes, l.Next = nil, f.loans.pool
	f.loans.pool = l
}

// handleReturn ends a send whose message was read where it lies: it was loaned, or exposed.
func (f *Flow) handleReturn(h *driver.Header) error {
	v := f.tx.sends.find(h.Cookie)
	if v == nil && f.bye.sent {
		return nil // its send was given up a moment ago
	}
	if v == nil || !v.loaned || v.asked != 0 {
		return violation("what was loaned is returned under cookie %#x, which names none", h.Cookie)
	}
	r, _ := f.endRendezvous(f.tx.sends.take(h.Cookie))
	r.N, r.Size = r.Data.Size, uint64(r.Data.Size)
	f.Stats.BytesSent += uint64(r.N)
	f.finish(r, nil)
	return nil
}
